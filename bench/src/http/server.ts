// One server in its own process: node server.js <name>. Says its port, and whenever it is asked its CPU time, or how long
// Node takes for a tick.
import { endWithParent } from '../child.ts'
import { type ServerName, servers } from './servers.ts'

const TICKS = 2000

endWithParent()
const port = await servers[process.argv[2] as ServerName]()
process.on('message', question => {
  if (question === 'tick') tickNs(ns => process.send?.(ns))
  else cpu()
})
process.send?.(port)

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
