import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startCaddy } from './caddy.ts'
import { startNginx } from './nginx.ts'

const hello = {
  nginx: () => startNginx(port => `server { listen 127.0.0.1:${port}; return 200 "hello"; }`),
  caddy: () => startCaddy(port => `:${port} {\n\trespond hello\n}\n`),
}

test.each(Object.entries(hello))(
  '%s serves as soon as it is there, and is gone when it is stopped',
  async (_, start) => {
    const server = await start()
    const url = `http://${server.host}:${server.port}/`
    try {
      expect(await (await fetch(url)).text()).toBe('hello')
      expect(existsSync(`/proc/${server.pid}`)).toBe(true)
    } finally {
      await server.stop()
    }
    expect(existsSync(`/proc/${server.pid}`)).toBe(false)
    await expect(fetch(url)).rejects.toThrow()
  },
)

test('two of them run side by side', async () => {
  const servers = await Promise.all([hello.nginx(), hello.nginx()])
  expect(servers[0].port).not.toBe(servers[1].port)
  await Promise.all(servers.map(server => server.stop()))
})

test.each([
  ['nginx', () => startNginx(() => 'nonsense;'), 'unknown directive "nonsense"'],
  ['caddy', () => startCaddy(() => ':80 {\n\tnonsense\n}\n'), 'unrecognized directive: nonsense'],
])('%s with a configuration that it cannot use says why', async (_, start, why) => {
  await expect(start()).rejects.toThrow(why)
})
