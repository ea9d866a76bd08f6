import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOOPBACK } from './boot.ts'

/** Up is towards the server, down is back to the client. */
export type Direction = 'up' | 'down'

export interface TcpProxy {
  readonly host: string
  readonly port: number
  /** How long each chunk is on its way, in each direction: a round trip takes twice that. */
  latencyMs: number
  /** Swallow all that is sent, or what goes one way: `'down'` lets a command be executed and loses its answer. */
  drop: boolean | Direction
  /** Not listening, so that new connections are refused; those that are open stay. */
  refuse: boolean
  /** Sees chunks as they come, which may split a reply anywhere. What it changes in a bulk string keeps the length. */
  rewrite: ((chunk: Buffer, direction: Direction) => Buffer) | undefined
  /** RST on both sides of every connection. */
  reset(): void
  /** FIN at the end of one direction of every connection; the other goes on. */
  halfClose(direction?: Direction): void
  /** Connections accepted so far, those still open, and the bytes delivered each way. */
  readonly counts: { readonly connections: number; readonly open: number; readonly up: number; readonly down: number }
  stop(): Promise<void>
}

/** The two sockets of a connection, by the direction of what is written to them: `up` leads to the server. */
type Pair = Readonly<Record<Direction, Socket>>

/** A TCP proxy on loopback that can behave as badly as a network does. */
export async function startProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>()
  const counts = { connections: 0, up: 0, down: 0 }
  let refuse = false

  const server = createServer({ allowHalfOpen: true }, client => {
    const pair = { up: connect({ ...target, allowHalfOpen: true }), down: client }
    pairs.add(pair)
    counts.connections++
    carry(pair, 'up')
    carry(pair, 'down')
  })
  const { port } = await new Promise<{ port: number }>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, LOOPBACK, () => resolve(server.address() as { port: number }))
  })
  server.unref()

  function carry(pair: Pair, direction: Direction): void {
    const to = pair[direction]
    const from = pair[direction === 'up' ? 'down' : 'up']
    // One after the other, because chunks must not overtake each other when the latency is lowered.
    let last = Promise.resolve()
    const later = (deliver: () => void) => {
      const dueAt = performance.now() + proxy.latencyMs
      last = last.then(async () => {
        // In a loop, because timers may fire a little early.
        while (performance.now() < dueAt) await sleep(Math.ceil(dueAt - performance.now()))
        if (to.writable && proxy.drop !== true && proxy.drop !== direction) deliver()
      })
    }
    from.setNoDelay(true)
    from.on('data', chunk => {
      later(() => {
        const bytes = proxy.rewrite === undefined ? chunk : proxy.rewrite(chunk, direction)
        counts[direction] += bytes.length
        if (!to.write(bytes)) from.pause()
      })
    })
    to.on('drain', () => from.resume())
    from.on('end', () => later(() => to.end()))
    from.on('error', () => tear(pair))
    from.on('close', () => {
      if (to.destroyed) pairs.delete(pair)
    })
  }

  function tear(pair: Pair): void {
    pairs.delete(pair)
    pair.up.resetAndDestroy()
    pair.down.resetAndDestroy()
  }

  function listenAgain(): void {
    if (!refuse && !server.listening) server.listen(port, LOOPBACK)
  }
  // While the port was free, an outgoing connection of another process may have taken it.
  server.on('error', () => setTimeout(listenAgain, 10))

  const proxy: TcpProxy = {
    host: LOOPBACK,
    port,
    latencyMs: 0,
    drop: false,
    rewrite: undefined,
    get refuse() {
      return refuse
    },
    set refuse(wanted) {
      refuse = wanted
      if (wanted) server.close()
      else listenAgain()
    },
    reset: () => pairs.forEach(tear),
    halfClose(direction = 'down') {
      for (const pair of pairs) pair[direction].end()
    },
    get counts() {
      return { ...counts, open: pairs.size }
    },
    async stop() {
      proxy.refuse = true
      proxy.reset()
    },
  }
  return proxy
}
