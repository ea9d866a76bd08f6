import { until } from 'sluice-harness'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDoor } from '../fixtures/http/door.ts'
import { RawClient } from '../fixtures/resp/raw-client.ts'
import { BOUNDS } from './server.ts'

async function connected(port: number): Promise<RawClient> {
  const client = await RawClient.connected(port)
  onTestFinished(() => client.close())
  return client
}

const SOON = { headersTimeout: 40, requestTimeout: 80, connectionsCheckingInterval: 10 }

test('no bound is 0, which would mean no bound at all', () => {
  expect(Object.values(BOUNDS).filter(bound => bound <= 0)).toEqual([])
})

describe('a slow client gets 408 and is cut off', () => {
  test('when its headers take too long, though bytes trickle in', async () => {
    const { port } = await openDoor({ bounds: SOON })
    const client = await connected(port)
    client.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ')
    await until('it is cut off', async () => client.send('x').isClosed)
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('when its body takes too long, though bytes trickle in', async () => {
    const { port } = await openDoor({ bounds: SOON })
    const client = await connected(port)
    client.send('POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{"user":"')
    await until('it is cut off', async () => client.send('x').isClosed)
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('when it sends nothing at all', async () => {
    const { port } = await openDoor({ bounds: SOON })
    const client = await connected(port)
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 /)
  })
})

test('a client that does not read its answers is cut off', async () => {
  const { port } = await openDoor({ bounds: { stuckMs: 50 } })
  const client = await connected(port)
  client.socket.pause()
  client.send('GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(2000))
  await until('it is cut off', async () => client.send('\r\n').isClosed)
})

test('a client that waits for a slow decision is not cut off', async () => {
  const door = await openDoor({ bounds: SOON, checksWait: true })
  const [waiting, slow] = [await connected(door.port), await connected(door.port)]
  waiting.send('POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n\r\n{"user":"42"}')
  slow.send('GET /')
  await slow.untilClosed()
  door.answer()
  expect(await waiting.until(']}')).toMatch(/^HTTP\/1\.1 200 /)
})

test('a client that leaves in the middle of a body causes no error and disturbs no other client', async () => {
  const { port, errors } = await openDoor()
  const client = await connected(port)
  client.send('POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"user"')
  await until('it is sent', async () => client.socket.writableLength === 0)
  client.close()
  const other = await connected(port)
  expect(await other.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n').until('ok\n')).toMatch(/^HTTP\/1\.1 200 /)
  expect(errors).toEqual([])
})

test('the check of a client that leaves is decided all the same, and disturbs no other client', async () => {
  const door = await openDoor({ checksWait: true })
  const client = await connected(door.port)
  client.send('POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n\r\n{"user":"42"}')
  await until('it is asked', async () => door.waiting === 1)
  client.close()
  door.answer()
  const other = await connected(door.port)
  const body = '{"user":"42"}'
  other.send(`POST /v1/peek HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  expect(await other.until(']}')).toContain('"remaining":999')
  expect(door.errors).toEqual([])
})
