import { spawn } from 'node:child_process'

/** Runs a command; rejects with its output when it fails. With `live` the output is shown as it comes instead. */
export function run(command, args, { live = false, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    let output = ''
    const child = spawn(command, args, {
      stdio: live ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    child.stdout?.on('data', chunk => {
      output += chunk
    })
    child.stderr?.on('data', chunk => {
      output += chunk
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output)
      else
        reject(new Error(`${output}\n${command} ${args.join(' ')} ended with ${signal ?? `exit code ${code}`}`.trim()))
    })
  })
}
