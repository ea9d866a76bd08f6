// One server in its own process: node server.js <name>. Says its port, and its CPU time whenever it is asked.
import { endWithParent } from '../child.ts'
import { type ServerName, servers } from './servers.ts'

endWithParent()
const port = await servers[process.argv[2] as ServerName]()
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
process.send?.(port)
