import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOOPBACK } from './boot.ts'

/** `up` is from the client to the server, `down` is back. */
export type Direction = 'up' | 'down'

export interface TcpProxy {
  readonly host: string
  readonly port: number
  /** The delay of each chunk in each direction. A round trip takes twice as long. */
  latencyMs: number
  /** Drops all bytes, or those of one direction. With `'down'` the server runs a command and its answer is lost. */
  drop: boolean | Direction
  /** Refuses new connections by not listening. Open connections stay. */
  refuse: boolean
  /** Changes chunks, which may split a reply anywhere. It must keep the length of bulk strings. */
  rewrite: ((chunk: Buffer, direction: Direction) => Buffer) | undefined
  /** Sends RST on both sides of every connection. */
  reset(): void
  /** Sends FIN in one direction of every connection. The other direction goes on. */
  halfClose(direction?: Direction): void
  /** Connections accepted so far, those still open, and the bytes delivered each way. */
  readonly counts: { readonly connections: number; readonly open: number; readonly up: number; readonly down: number }
  stop(): Promise<void>
}

/** The two sockets of a connection, by the direction of the bytes written to them: `up` leads to the server. */
type Pair = Readonly<Record<Direction, Socket>>

/** Starts a TCP proxy on loopback that can fail in the ways that networks fail. */
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
    // Deliver in order: without this, a chunk could overtake earlier ones when the latency is lowered.
    let last = Promise.resolve()
    const later = (deliver: () => void) => {
      const dueAt = performance.now() + proxy.latencyMs
      last = last.then(async () => {
        // A loop, because timers may fire a little early.
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
  // An outgoing connection of another process may have taken the port while it was free, so try again.
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
