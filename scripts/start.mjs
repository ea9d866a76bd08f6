// What `npm start` runs, on a fresh clone too: sets everything up, then serves.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'
import { ensureDependencies } from './dependencies.mjs'
import { run } from './run.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
await ensureDependencies()
await Promise.all([build(), run('node_modules/.bin/vite', ['build', 'apps/studio', '--logLevel', 'warn'])])

// The page works at once: the service makes a token and prints it in the page's address. Variables that are set win.
const token = process.env.SLUICE_ADMIN_TOKEN ? [] : ['--admin-token', 'auto']
const command = ['packages/server/bin/sluice.js', 'serve', ...token, ...process.argv.slice(2)]
const child = spawn(process.execPath, command, { stdio: 'inherit' })
// Ctrl-C in a terminal reaches both processes. A signal to this one alone is meant for the service.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => {
  process.exitCode = signal === null ? code : 1
})
