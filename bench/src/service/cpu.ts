import { readFileSync } from 'node:fs'

const TICK_US = 10_000

/** All CPU time of a process and of those it has started, as the kernel counts it: in hundredths of a second. */
export function cpuUs(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return [String(pid), ...children].reduce((sum, one) => sum + ticksOf(one) * TICK_US, 0)
}

function ticksOf(pid: string): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return Number(fields[11]) + Number(fields[12])
}
