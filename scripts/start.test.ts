import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const ANY_PORTS = ['--http-port', '0', '--grpc-port', '0', '--resp-port', '0', '--lame-duck', '0s']

test('npm start serves, and whoever ends it ends the service', async () => {
  const child = spawn('npm', ['start', '--', ...ANY_PORTS], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Kill the whole group, since a failed test may leave the service behind.
  onTestFinished(() => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // It is gone, as it should be.
    }
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (printed += text))
  const closed = once(child, 'close')
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', () => /#token=\S+\n/.test(printed) && resolve())
    closed.then(() => reject(new Error(`it ended before it served:\n${printed}`)))
  })
  const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)!
  const response = await fetch(`${address}/v1/check`, { method: 'POST', body: '{"ip":"203.0.113.7"}' })
  expect(await response.json()).toMatchObject({ allowed: true, policy: 'per-ip' })
  // The token is printed once, in the address of the page.
  const tokens = [...printed.matchAll(/#token=(\S+)/g)].map(([, token]) => token!)
  expect(tokens).toHaveLength(1)
  const reset = (token: string) =>
    fetch(`${address}/v1/reset`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: '{"ip":"203.0.113.7"}',
    })
  expect([(await reset('another')).status, (await reset(tokens[0]!)).status]).toEqual([401, 200])
  child.kill('SIGTERM')
  // The output ends when no process is left that holds it open.
  await closed
  expect(printed).toMatch(/closed\n$/)
})
