import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack } from './attack.ts'
import { ask, type Service, type Site } from './site.ts'

const RULES = 'limits: { per-user: { key: user, sliding-log: 1000/1h } }'
const SLOW = 300
/** The headers of a request may take 5 seconds, and the server checks connections only now and then. */
const SLOW_FOR_MS = 12_000
const GUESSING_MS = 5000
/** The most passwords that one address can try in this time, over any number of connections. */
const GUESSES_ALLOWED = 200
const GIANT_MB = 64
const GROWTH_MB = 100

const CRLF = '\r\n'
const CHECK_HEAD = `POST /v1/check HTTP/1.1${CRLF}Host: localhost${CRLF}`
const PREFACE = Buffer.from(`PRI * HTTP/2.0${CRLF}${CRLF}SM${CRLF}${CRLF}`)
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
const PING = Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])
const HPACK = Buffer.from([0x83, 0x86, 0x84, 0x41, 0x01, 0x61])

/** Chunks to send to one port again and again, until enough is sent or the server closes. */
const GIANTS: Readonly<Record<string, (service: Service) => Flood>> = {
  'HTTP header': ({ http }) => ({ port: http, head: `${CHECK_HEAD}X-Big: `, chunk: 'a'.repeat(65_536) }),
  'HTTP body': ({ http }) => ({
    port: http,
    head: `${CHECK_HEAD}Content-Length: 9999999999${CRLF}${CRLF}`,
    chunk: ' '.repeat(65_536),
  }),
  'HTTP chunks': ({ http }) => ({
    port: http,
    head: `${CHECK_HEAD}Transfer-Encoding: chunked${CRLF}${CRLF}`,
    chunk: `1${CRLF}a${CRLF}`.repeat(10_000),
  }),
  'RESP bulk': ({ resp }) => ({
    port: resp,
    head: `*2${CRLF}$4${CRLF}ECHO${CRLF}$536870912${CRLF}`,
    chunk: 'a'.repeat(65_536),
  }),
  'RESP array': ({ resp }) => ({ port: resp, head: `*1048576${CRLF}`, chunk: `$1${CRLF}a${CRLF}`.repeat(10_000) }),
  'RESP inline': ({ resp }) => ({ port: resp, head: '', chunk: 'a'.repeat(65_536) }),
  'HTTP/2 SETTINGS': ({ grpc }) => ({ port: grpc, head: PREFACE, chunk: Buffer.concat(Array(5000).fill(SETTINGS)) }),
  'HTTP/2 PING': ({ grpc }) => ({
    port: grpc,
    head: Buffer.concat([PREFACE, SETTINGS]),
    chunk: Buffer.concat(Array(5000).fill(PING)),
  }),
  'HTTP/2 rapid reset': ({ grpc }) => ({
    port: grpc,
    head: Buffer.concat([PREFACE, SETTINGS]),
    chunk: rapidResets(5000),
  }),
}

interface Flood {
  readonly port: number
  readonly head: string | Buffer
  readonly chunk: string | Buffer
}

export const CONNECTIONS: readonly Attack[] = [
  ...Object.entries(GIANTS).map(
    ([what, floodOf]): Attack => ({
      name: `giant or endless: ${what}`,
      tried: `${GIANT_MB} MB on one connection, unread answers`,
      isQuick: false,
      async run(site) {
        const service = await site.service(RULES)
        const before = service.residentMb()
        const sent = await flood(site, floodOf(service))
        const grown = Math.max(0, service.residentMb() - before)
        await answers(service)
        return { attempts: Math.ceil(sent / 1e6), through: grown, allowed: GROWTH_MB, unit: 'MB more' }
      },
    }),
  ),
  {
    name: 'slow requests',
    tried: 'headers and bodies a byte at a time',
    isQuick: false,
    async run(site) {
      const service = await site.service(RULES)
      const open = Array.from({ length: SLOW }, (_, i) => {
        const socket = quiet(site, service.http)
        socket.write(i % 2 === 0 ? `${CHECK_HEAD}X-Slow: ` : `${CHECK_HEAD}Content-Length: 100000${CRLF}${CRLF}{`)
        return socket
      })
      const trickle = setInterval(() => {
        for (const socket of open) if (socket.writable) socket.write(' ')
      }, 200)
      await sleep(1000)
      await answers(service)
      await sleep(SLOW_FOR_MS)
      clearInterval(trickle)
      const through = open.filter(socket => !socket.closed && socket.readyState === 'open').length
      return { attempts: SLOW, through, allowed: 0, unit: 'still open' }
    },
  },
  {
    name: 'RESP password guesses',
    tried: 'wrong AUTHs in a pipeline, and new connections when cut off',
    isQuick: false,
    async run(site) {
      const { resp } = await site.service(RULES, ['--check-token', 'knock-knock'])
      const until = performance.now() + GUESSING_MS
      let answered = 0
      let attempts = 0
      while (performance.now() < until) {
        const socket = quiet(site, resp)
        socket.on('data', data => (answered += String(data).split('-WRONGPASS').length - 1))
        const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
        const guesses = setInterval(() => {
          for (let i = 0; i < 100; i++) socket.write(`AUTH guess-${attempts++}${CRLF}`)
        }, 10)
        await Promise.race([closed, sleep(until - performance.now())])
        clearInterval(guesses)
        socket.destroy()
      }
      return { attempts, through: answered, allowed: GUESSES_ALLOWED, unit: 'guesses answered' }
    },
  },
]

function quiet(site: Site, port: number): Socket {
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('error', () => {}) // 'close' follows
  site.atEnd(() => socket.destroy())
  return socket
}

/** Sends until all is sent or the server closes, and reads nothing. Returns the number of bytes sent. */
async function flood(site: Site, { port, head, chunk }: Flood): Promise<number> {
  const socket = quiet(site, port)
  socket.pause()
  let isOver = false
  socket.once('close', () => {
    isOver = true
  })
  socket.write(head)
  while (!isOver && socket.bytesWritten < GIANT_MB * 1e6) {
    if (!socket.write(chunk)) {
      const drained = new Promise(resolve => socket.once('drain', resolve))
      const stuck = await Promise.race([drained.then(() => false), sleep(2000).then(() => true)])
      if (stuck) break
    }
  }
  socket.destroy()
  return socket.bytesWritten
}

/** Throws unless all other clients are still served. */
async function answers(service: Service): Promise<void> {
  const { status } = await ask(service.http, '/healthz')
  if (status !== 200 || !service.isUp()) throw new Error(`the service is down: ${status}`)
}

/** A stream opened and reset at once, again and again. */
function rapidResets(count: number): Buffer {
  const frames: Buffer[] = []
  for (let i = 0; i < count; i++) {
    const headers = Buffer.alloc(9)
    headers.writeUIntBE(HPACK.length, 0, 3)
    headers[3] = 1
    headers[4] = 4
    headers.writeUInt32BE(2 * i + 1, 5)
    const reset = Buffer.from([0, 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 0, 8])
    reset.writeUInt32BE(2 * i + 1, 5)
    frames.push(headers, HPACK, reset)
  }
  return Buffer.concat(frames)
}
