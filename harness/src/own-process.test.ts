import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ask } from './resp.ts'
import { until } from './until.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A program that starts a server, says where, and then does not stop it. */
async function careless(then: string): Promise<{ port: number; path: string; ended: Promise<unknown[]>; pid: number }> {
  const code = `import { startRedis } from 'sluice-harness'
    const { port, path } = await startRedis({ unixSocket: true })
    console.log(JSON.stringify({ port, path }))
    ${then}`
  const tsx = ['--import', 'tsx', '--conditions=@sluice/source', '--input-type=module', '--eval', code]
  const child = spawn(process.execPath, tsx, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const [line] = await once(child.stdout, 'data')
  return { ...JSON.parse(String(line)), ended, pid: child.pid! }
}

async function untilGone(port: number): Promise<void> {
  await until('nobody listens', () =>
    ask({ host: '127.0.0.1', port }, ['PING']).then(
      () => false,
      error => /ECONNREFUSED/.test(error.message),
    ),
  )
}

test('a program that forgets its server ends all the same, and takes server and folder with it', async () => {
  const { port, path, ended } = await careless('')
  expect(await ended).toEqual([0, null])
  await untilGone(port)
  expect(existsSync(path)).toBe(false)
})

test.runIf(process.platform === 'linux').each(['SIGTERM', 'SIGKILL'] as const)(
  'a program ended by %s takes its server with it',
  async signal => {
    const { port, path, pid, ended } = await careless('setInterval(() => {}, 1000)')
    process.kill(pid, signal)
    expect(await ended).toEqual([null, signal])
    await untilGone(port)
    rmSync(dirname(path), { recursive: true })
  },
)
