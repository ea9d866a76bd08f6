import cluster from 'node:cluster'
import { runCommand } from './command/command.ts'

process.exitCode = await runCommand(process.argv.slice(2), process.env)
// A worker that could not start must exit: its channel to the supervisor would keep it alive.
if (cluster.isWorker && process.exitCode !== 0) process.exit()
