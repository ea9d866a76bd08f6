import { until } from 'sluice-harness'
import { expect, onTestFinished, test } from 'vitest'
import { openDoor } from '../fixtures/http/door.ts'
import { RawClient } from '../fixtures/resp/raw-client.ts'

async function connected(port: number): Promise<RawClient> {
  const client = await RawClient.connected(port)
  onTestFinished(() => client.close())
  return client
}

const CHECK = 'POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n\r\n{"user":"42"}'
const READY = 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n'
/** Nobody in these tests waits for it to pass. */
const LONG_MS = 60_000

test('a request from before the close is answered, and then its keep-alive connection is closed', async () => {
  const door = await openDoor({ checksWait: true })
  const client = await connected(door.port)
  client.send(CHECK)
  await until('it is asked', async () => door.waiting === 1)
  const closed = door.close(LONG_MS)
  door.answer()
  expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*"allowed":true/s)
  await closed
})

test('a request that was sent before the last answer is answered, too, and then the connection is closed', async () => {
  const door = await openDoor({ checksWait: true })
  const client = await connected(door.port)
  client.send(CHECK)
  await until('it is asked', async () => door.waiting === 1)
  client.send(CHECK)
  const closed = door.close(LONG_MS)
  door.answer()
  await until('the second is asked', async () => door.waiting === 1)
  door.answer()
  expect((await client.untilClosed()).match(/HTTP.*OK|Connection: \S+/g)).toEqual([
    'HTTP/1.1 200 OK',
    'Connection: keep-alive',
    'HTTP/1.1 200 OK',
    'Connection: close',
  ])
  await closed
})

test('all requests of a pipeline are answered', async () => {
  const door = await openDoor({ checksWait: true })
  const client = await connected(door.port)
  client.send(CHECK.repeat(3))
  await until('all are asked', async () => door.waiting === 3)
  const closed = door.close(LONG_MS)
  for (let i = 0; i < 3; i++) door.answer()
  expect((await client.untilClosed()).match(/"allowed":true,"reason"/g)).toHaveLength(3)
  await closed
})

test('an idle connection is closed at once, and no new one is accepted', async () => {
  const door = await openDoor()
  const client = await connected(door.port)
  await client.send(READY).until('ready\n')
  await door.close(LONG_MS)
  expect(await client.untilClosed()).toBe('')
  await expect(RawClient.connected(door.port)).rejects.toThrow('ECONNREFUSED')
})

test('a closing server answers /readyz with 503 and closes the connection', async () => {
  const door = await openDoor({ checksWait: true })
  const client = await connected(door.port)
  await client.send(READY).until('ready\n')
  client.send(CHECK)
  await until('it is asked', async () => door.waiting === 1)
  const closed = door.close(LONG_MS)
  client.send(READY)
  // The next is asked when the one before it has been read, too.
  client.send(CHECK)
  await until('that is read', async () => door.waiting === 2)
  door.answer()
  door.answer()
  expect(await client.untilClosed()).toMatch(/"allowed":true.*HTTP\/1\.1 503 .*Connection: close.*not ready\n/s)
  await closed
})

test('the server waits no longer than the grace', async () => {
  const door = await openDoor({ checksWait: true })
  const client = await connected(door.port)
  client.send(CHECK)
  await until('it is asked', async () => door.waiting === 1)
  await door.close(10)
  expect(await client.untilClosed()).toBe('')
})
