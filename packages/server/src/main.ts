import { runCommand } from './command/command.ts'

process.exitCode = await runCommand(process.argv.slice(2), process.env)
