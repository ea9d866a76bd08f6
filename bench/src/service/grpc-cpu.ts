import { readFileSync } from 'node:fs'

const TICK_US = 10_000

/** All CPU time of a process, as the kernel counts it: in hundredths of a second. */
export function cpuUs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_US
}
