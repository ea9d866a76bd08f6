import { readdirSync, readFileSync } from 'node:fs'

/** All CPU time of a process and of those it has started, thread by thread, as the scheduler counts it. */
export function cpuUs(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  const processes = [String(pid), ...children]
  return processes.flatMap(threadsOf).reduce((sum, ns) => sum + ns / 1000, 0)
}

function threadsOf(pid: string): number[] {
  const folder = `/proc/${pid}/task`
  return readdirSync(folder).map(thread => {
    const [ranNs] = readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')
    return Number(ranNs)
  })
}
