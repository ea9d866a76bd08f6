import { once } from 'node:events'
import { createServer, IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createGuard } from '../guard/guard.ts'
import { guardNode, type NodeRequest, nodeReader, writeFields } from './node-exchange.ts'

test.each<[says: string, request: NodeRequest, has: boolean]>([
  ['as it was sent', { headers: {}, rawHeaders: ['Host', 'a', 'Origin', 'https://b'] }, true],
  ['in any case', { headers: {}, rawHeaders: ['ORIGIN', ''] }, true],
  ['not a value', { headers: {}, rawHeaders: ['Host', 'origin'] }, false],
  ['not one like it', { headers: {}, rawHeaders: ['Origin2', 'a', 'Prigin', 'b'] }, false],
  ['as headers, where nothing is known of what was sent', { headers: { origin: 'https://b' } }, true],
  ['as headers, where a server without a socket made them', { headers: { origin: '' }, rawHeaders: [] }, true],
  ['not at all', { headers: {}, rawHeaders: [] }, false],
])('a header is there: %s', (_, request, has) => {
  expect(nodeReader.has!(request, 'origin')).toBe(has)
})

test('each connection is asked for its other end until it tells', () => {
  const told = [undefined, '192.0.2.1', '192.0.2.9']
  const socket = {
    get remoteAddress() {
      return told.shift()
    },
  }
  const peers = [1, 2, 3].map(() => nodeReader.peer({ headers: {}, socket }))
  expect(peers).toEqual([undefined, '192.0.2.1', '192.0.2.1'])
  expect(nodeReader.peer({ headers: {}, socket: { remoteAddress: '192.0.2.2' } })).toBe('192.0.2.2')
  expect(nodeReader.peer({ headers: {}, socket: null })).toBeUndefined()
})

test('lists that another limiter has begun go on; all other fields are those of the limiter asked last', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  response.setHeader('RateLimit', '"a";r=1')
  response.setHeader('X-RateLimit-Limit', '5')
  const fields = ['RateLimit', '"b";r=2', 'RateLimit-Policy', '"b";q=3', 'X-RateLimit-Limit', '9']
  const rest = {
    guard: '',
    decision: undefined,
    expose: undefined,
    refusal: undefined,
    ended: undefined,
    measures: false,
  }
  writeFields({ fields, ...rest }, response)
  expect({ ...response.getHeaders() }).toEqual({
    ratelimit: '"a";r=1, "b";r=2',
    'ratelimit-policy': '"b";q=3',
    'x-ratelimit-limit': '9',
  })
})

test('of a response that was begun before, a refusal writes no field and ends it', async () => {
  const guard = createGuard({ policy: '1/m' })
  const answers: unknown[] = []
  await withServer(
    (request, response) => {
      response.writeHead(200, { 'X-Begun': 'yes' }).write('begun ')
      guardNode(guard, nodeReader, request, response, () => response.end('and served'))
    },
    async url => {
      for (let n = 0; n < 2; n++) {
        const answer = await fetch(url)
        answers.push([answer.headers.has('ratelimit'), await answer.text()])
      }
    },
  )
  expect(answers).toEqual([
    [false, 'begun and served'],
    [false, 'begun '],
  ])
})

async function withServer(listener: RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
