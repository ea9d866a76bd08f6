// Servers in one process: node server.js <name>... Reports their ports, and on request its CPU time
// or how long Node takes for a tick.
import { endWithParent } from '../child.ts'
import { type ServerName, servers } from './servers.ts'

const TICKS = 2000

endWithParent()
const ports: number[] = []
for (const name of process.argv.slice(2)) ports.push(await servers[name as ServerName]())
process.on('message', question => {
  if (question === 'tick') tickNs(ns => process.send?.(ns))
  else cpu()
})
process.send?.(ports)

function cpu(): void {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
}

function tickNs(done: (ns: number) => void): void {
  const startedAt = performance.now()
  let left = TICKS
  const tick = () => {
    if (--left > 0) process.nextTick(tick)
    else done(((performance.now() - startedAt) * 1e6) / TICKS)
  }
  process.nextTick(tick)
}
