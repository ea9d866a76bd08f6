import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { type Clock, SluiceError } from 'sluice'
import { listen } from '../net/listen.ts'
import type { CommandContext, RespStats } from './commands/command.ts'
import { Words } from './commands/words.ts'
import { RespConnection } from './connection.ts'
import { type IdleLimits, IdleWatch } from './idle-watch.ts'
import { Password } from './password.ts'
import { ReplyWriter } from './reply-writer.ts'
import { Session } from './session.ts'
import { freshRequest, freshVerdict, type Throttle } from './throttle/throttle.ts'

export interface RespOptions {
  throttle: Throttle
  /** Loopback by default. Set a password if others can reach the address. */
  host?: string
  /** 0 takes a free port. Without a port, the server does not listen on TCP. */
  port?: number
  /** A unix socket, beside TCP or in its place. */
  path?: string
  /** The password for AUTH. Without it, clients need none. */
  password?: string
  /** 10,000 by default. One more connection gets an error and is closed. */
  maxConnections?: number
  /** A connection that sends nothing for this long is closed: 10 minutes by default; 0 never closes it. */
  idleMs?: number
  /** A client may take this long to complete a command, read its replies or send its password: 10 s by default. */
  stuckMs?: number
  /** The clock that slows wrong passwords. */
  clock?: Clock
}

export interface RespServer {
  /** The port of TCP, if there is any. */
  readonly port: number | undefined
  stats(): Readonly<RespStats>
  /** Goes on serving, but ends each open connection after its next replies. */
  drain(): void
  /** Accepts no more connections, answers what was read, and closes. Cuts off what is left after `graceMs` (5 s by default). */
  close(graceMs?: number): Promise<void>
}

/** Starts a server for CL.THROTTLE over RESP. Resolves when it listens. */
export async function startResp(options: RespOptions): Promise<RespServer> {
  const { host = '127.0.0.1', port, path, maxConnections = 10_000, idleMs = 600_000, stuckMs = 10_000 } = options
  checkWhole('maxConnections', maxConnections, 1)
  checkWhole('idleMs', idleMs, 0)
  checkWhole('stuckMs', stuckMs, 1)
  if (port === undefined && path === undefined) throw bad('a port or a path to listen on', 'neither')
  if (options.password === '') throw bad('a password, or none', "''")

  const door = new RespConnections(options, maxConnections, { idleMs, stuckMs })
  const servers: Server[] = []
  try {
    for (const where of [...(port === undefined ? [] : [{ host, port }]), ...(path === undefined ? [] : [{ path }])]) {
      // Half open: a client that has ended its side still gets its replies.
      const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => door.enter(socket))
      servers.push(server)
      await listen(server, where)
      server.on('error', () => door.stats.turnedAway++) // one connection could not be accepted; the server goes on
    }
  } catch (error) {
    for (const server of servers) server.close()
    door.lock()
    throw error
  }
  const address = port === undefined ? undefined : (servers[0]!.address() as AddressInfo)
  return {
    port: address?.port,
    stats: () => ({ ...door.stats }),
    drain: () => door.drain(),
    async close(graceMs = 5000) {
      const closed = servers.map(server => new Promise<void>(resolve => server.close(() => resolve())))
      await Promise.all([...closed, door.clear(graceMs)])
      door.lock()
    },
  }
}

/** The open connections. */
class RespConnections {
  readonly stats: RespStats = {
    ...{ connections: 0, accepted: 0, turnedAway: 0, timedOut: 0, protocolErrors: 0, failedAuth: 0 },
    ...{ commands: 0, allowed: 0, limited: 0, failed: 0 },
  }
  private readonly connections = new Set<RespConnection>()
  private readonly maxConnections: number
  private readonly context: CommandContext
  private readonly watch: IdleWatch
  private onLeave: () => void = () => {}

  constructor({ throttle, password, clock }: RespOptions, maxConnections: number, patience: IdleLimits) {
    this.maxConnections = maxConnections
    this.context = {
      words: new Words(),
      reply: new ReplyWriter(),
      throttle,
      password: password === undefined ? undefined : new Password(password, clock),
      stats: this.stats,
      ask: freshRequest(),
      verdict: freshVerdict(),
    }
    this.watch = new IdleWatch(patience, connection => {
      this.stats.timedOut++
      connection.destroy()
    })
  }

  enter(socket: Socket): void {
    const { stats } = this
    if (this.connections.size >= this.maxConnections) {
      stats.turnedAway++
      socket.on('error', () => {})
      socket.end('-ERR max number of clients reached\r\n', () => socket.destroy())
      return
    }
    const connection = new RespConnection(
      socket,
      this.context,
      new Session(++stats.accepted, this.context.password !== undefined, socket.remoteAddress),
    )
    this.connections.add(connection)
    stats.connections = this.connections.size
    this.watch.add(connection)
    socket.on('close', () => {
      this.connections.delete(connection)
      stats.connections = this.connections.size
      this.watch.remove(connection)
      this.onLeave()
    })
  }

  drain(): void {
    for (const connection of this.connections) connection.closeAfterReply()
  }

  /** Answers open commands and ends the connections; cuts them off after `graceMs`. Resolves when none is left. */
  async clear(graceMs: number): Promise<void> {
    for (const connection of this.connections) connection.close()
    const timer = setTimeout(() => {
      for (const connection of this.connections) connection.destroy()
    }, graceMs)
    while (this.connections.size > 0) await new Promise<void>(resolve => (this.onLeave = resolve))
    clearTimeout(timer)
  }

  lock(): void {
    this.watch.stop()
  }
}

function checkWhole(name: string, value: number, least: number): void {
  if (!Number.isInteger(value) || value < least) throw bad(`${name} as a whole number, ${least} or more`, value)
}

function bad(what: string, got: unknown): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `expected ${what}, got ${String(got)}`)
}
