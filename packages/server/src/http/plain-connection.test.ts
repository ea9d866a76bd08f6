import fc from 'fast-check'
import { until } from 'sluice-harness'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type OpenDoor, openDoor } from '../fixtures/http/door.ts'
import { RawClient } from '../fixtures/resp/raw-client.ts'

async function connected(port: number): Promise<RawClient> {
  const client = await RawClient.connected(port)
  onTestFinished(() => client.close())
  return client
}

const ask = (body: string, ...fields: string[]) => {
  const length = Buffer.byteLength(body, 'latin1')
  return `POST /v1/peek HTTP/1.1\r\n${['Host: localhost', `Content-Length: ${length}`, ...fields].join('\r\n')}\r\n\r\n${body}`
}
/** Ends every exchange, whatever came before it. */
const LAST = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

/** Every response as it came, but for the time of day and of the decision; and each body is as long as its head says. */
function timeless(text: string): string[] {
  const found: string[] = []
  for (let rest = text; rest !== ''; ) {
    const start = rest.indexOf('\r\n\r\n') + 4
    const length = Number(/^Content-Length: (\d+)$/m.exec(rest.slice(0, start))?.[1] ?? 0)
    const response = rest.slice(0, start + length)
    found.push(response.replace(/^(Date|Content-Length): .*$/gm, '$1').replace(/"(at|resetAt)":[\d.]+/g, '"$1"'))
    rest = rest.slice(start + length)
  }
  return found
}

/** By the second answer all that was sent before has been read, and answered if it could be. */
async function settled(port: number): Promise<void> {
  for (let i = 0; i < 2; i++) await (await connected(port)).send(LAST).untilClosed()
}

/** What comes back for a request that is sent whole, and for the same sent from its second byte on later: that is Node's. */
async function bothWays({ port }: OpenDoor, request: string): Promise<[string[], string[]]> {
  const [short, long] = [await connected(port), await connected(port)]
  long.send(request.slice(0, 1))
  await settled(port)
  short.send(request)
  long.send(request.slice(1))
  await settled(port)
  const answers = [short, long].map(async client => timeless(await client.send(LAST).untilClosed()))
  return Promise.all(answers) as Promise<[string[], string[]]>
}

describe('the fast path answers byte for byte as Node does', () => {
  test.each([
    ['a check that passes', ask('{"user":"1"}')],
    ['a check that is refused', ask('{"user":"1","cost":2000}')],
    ['several', ask('[{"user":"1"},{"user":"2"}]')],
    ['a mistake', ask('{"user":')],
    ['a body in UTF-8', ask(Buffer.from('{"user":"é𝄞"}').toString('latin1'))],
    ['a body that is no UTF-8', ask('{"user":"\xff"}')],
    ['no body', ask('')],
    ['two at once', ask('{"user":"1"}') + ask('{"user":"2"}')],
    ['a body that is longer than it says', ask('{"user":"1"}').replace(/Length: \d+/, 'Length: 5')],
    ['a tab behind its length', ask('{"user":"1"}').replace(/Length: \d+/, '$&\t')],
    ['chunks', `${ask('', 'Transfer-Encoding: chunked').replace(/Content-Length: 0\r\n/, '')}2\r\n{}\r\n0\r\n\r\n`],
    ['chunks with a length beside them', `${ask('0\r\n\r\n', 'Transfer-Encoding: chunked')}`],
    ['HTTP/1.0', ask('{"user":"1"}').replace('1.1', '1.0')],
    ['no host', ask('{"user":"1"}').replace('Host: localhost\r\n', '')],
    ['an expectation', ask('{"user":"1"}', 'Expect: 100-continue')],
    ['another path', ask('{"user":"1"}').replace('/v1/peek', '/v1/nothing')],
    ['no HTTP at all', 'hello\r\n\r\n'],
  ])('%s', async (_, request) => {
    const [short, long] = await bothWays(await openDoor(), request)
    expect(short).toEqual(long)
    expect(short[0]).toMatch(/^HTTP\/1\.1 /)
  })

  test('for any bytes', async () => {
    const door = await openDoor()
    const noise = fc.constantFrom(
      ' ',
      '\t',
      '\r',
      '\n',
      '\r\n',
      '\r\n\r\n',
      '\0',
      ':',
      ',',
      '5',
      'x',
      '\xff',
      'chunked',
    )
    const broken = fc.tuple(fc.nat(120), fc.nat(3), noise).map(([at, drop, put]) => {
      const request = ask('{"user":"1"}', 'X-Any: a', 'Connection: keep-alive')
      return request.slice(0, at) + put + request.slice(at + drop)
    })
    await fc.assert(
      fc.asyncProperty(broken, async request => {
        const [short, long] = await bothWays(door, request)
        expect(short).toEqual(long)
      }),
      { numRuns: 150 },
    )
  }, 30_000)
})

test('one connection sends many plain requests, and may then be handed to Node', async () => {
  const { port } = await openDoor()
  const client = await connected(port)
  for (let i = 0; i < 3; i++) expect(await client.send(ask('{"user":"1"}')).until(']}')).toContain('"remaining":1000')
  await client.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n').until('ok\n')
  expect(await client.send(ask('{"user":"1"}')).until(']}')).toContain('"remaining":1000')
})

test('a request that arrives before the answer to the last one is answered after it', async () => {
  const door = await openDoor({ checksWait: true })
  const client = await connected(door.port)
  client.send(ask('{"user":"1"}').replace('peek', 'check'))
  await until('it is asked', async () => door.waiting === 1)
  client.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await settled(door.port)
  door.answer()
  expect(await client.until('ok\n')).toMatch(/^HTTP\/1\.1 200 .*"allowed":true.*HTTP\/1\.1 200 .*ok\n$/s)
})

test('a client that has ended its side still gets the answer, and then the connection closes', async () => {
  const door = await openDoor({ checksWait: true })
  const client = await connected(door.port)
  client.socket.end(ask('{"user":"1"}').replace('peek', 'check'))
  await until('it is asked', async () => door.waiting === 1)
  await settled(door.port)
  door.answer()
  expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*\]}$/s)
})

test('an idle connection is closed after the keep-alive time', async () => {
  const { port } = await openDoor({ bounds: { keepAliveTimeout: 20 } })
  const client = await connected(port)
  await client.send(ask('{"user":"1"}')).until(']}')
  expect(await client.untilClosed()).toBe('')
})
