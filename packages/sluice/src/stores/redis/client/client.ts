import { expected } from '../../../errors.ts'
import { corked, type Nodes } from './corked.ts'
import { PacedSender } from './paced-sender.ts'
import { preparedEvalsha } from './prepared.ts'

/** An ioredis or iovalkey client: one server, Sentinel or a cluster. */
export interface IoRedisShape {
  readonly status: string
  readonly isCluster?: boolean
  info(section: string): Promise<unknown>
  connect(): Promise<unknown>
  script(subcommand: 'LOAD', script: string): Promise<unknown>
  once(event: string, listener: () => void): unknown
}

/** Members of these clients that their types leave out. */
interface IoRedisBuffers {
  evalshaBuffer(sha: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  evalBuffer(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  sendCommand(command: object): Promise<unknown>
}

/** A node-redis client for one server. */
export interface NodeRedisShape {
  readonly isReady: boolean
  sendCommand(args: string[], options?: object): Promise<unknown>
  once(event: string, listener: () => void): unknown
}

/** A node-redis client for a cluster. It must be told the key by which to choose the node. */
export interface NodeRedisClusterShape {
  readonly isReady?: boolean
  readonly isOpen: boolean
  readonly masters: readonly unknown[]
  nodeClient(node: never): Promise<NodeRedisShape>
  sendCommand(firstKey: string | undefined, isReadonly: boolean, args: string[], options?: object): Promise<unknown>
  once(event: string, listener: () => void): unknown
}

export type RedisClient = IoRedisShape | NodeRedisShape | NodeRedisClusterShape

/** What the store needs of a client. To support another client, write one of these. */
export interface RedisLink {
  /** Keys of one call must share a hash slot. */
  readonly isCluster: boolean
  /**
   * How soon the client may send a call that lost its connection again, perhaps for the second time; Infinity for
   * never.
   */
  readonly resendsAfterMs: number
  /** Whether the client is connected, so that a call is sent now and not put into the client's own queue. */
  isReady(): boolean
  /** What is sent during `send` leaves at once, in as few pieces as possible. */
  together(send: () => void): void
  /**
   * Sends calls for one server in this order, each in a piece of its own, so that the server begins while the next is
   * written.
   */
  inTurn(sends: readonly (() => void)[]): void
  /** Calls back when the client is connected, which may be at once. */
  whenReady(callback: () => void): void
  /** Runs a command whose reply is bytes. */
  evalsha(sha: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  eval(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  info(section: string): Promise<string>
  /** Loads a script on every primary, and connects to primaries it is not connected to yet. */
  load(script: string): Promise<unknown>
}

export function linkOf(client: unknown): RedisLink {
  if (isIoRedis(client)) return ioRedisLink(client)
  if (isNodeRedisCluster(client)) {
    const primaries = () => client.masters.map(node => client.nodeClient(node as never))
    return nodeRedisLink(client, (args, how) => client.sendCommand(args[3], false, args, how), primaries, true)
  }
  if (isNodeRedis(client)) {
    return nodeRedisLink(
      client,
      (args, how) => client.sendCommand(args, how),
      () => [client],
      false,
    )
  }
  throw expected(
    'SLUICE_BAD_CLIENT',
    'an ioredis, iovalkey or node-redis client',
    client,
    'make one and pass it as it is',
  )
}

function isIoRedis(client: unknown): client is IoRedisShape & IoRedisBuffers {
  const { status, evalshaBuffer, info, once } = Object(client) as Partial<IoRedisShape & IoRedisBuffers>
  return typeof status === 'string' && [evalshaBuffer, info, once].every(method => typeof method === 'function')
}

function isNodeRedis(client: unknown): client is NodeRedisShape {
  const { sendCommand, once } = Object(client) as Partial<NodeRedisShape>
  // A Sentinel client has them too, but its sendCommand takes another argument first.
  const isSentinel = 'getSentinelNode' in Object(client)
  return typeof sendCommand === 'function' && typeof once === 'function' && 'isReady' in Object(client) && !isSentinel
}

function isNodeRedisCluster(client: unknown): client is NodeRedisClusterShape {
  const { sendCommand, once } = Object(client) as Partial<NodeRedisClusterShape>
  return typeof sendCommand === 'function' && typeof once === 'function' && 'masters' in Object(client)
}

function isCluster(client: IoRedisShape): client is IoRedisShape & Nodes {
  return client.isCluster === true
}

/** The options by which a client repeats a command that got no reply. */
interface ResendOptions {
  autoResendUnfulfilledCommands?: boolean
  retryDelayOnFailover?: number
  retryStrategy?: unknown
  Connector?: unknown
}

/** The shortest delay before ioredis and iovalkey connect again, unless an option sets it. */
const DEFAULT_RETRY_MS = 50

/** A function sets the delay; one of the user's may return 0. A cluster waits a while. */
function resendsAfterMs(client: IoRedisShape): number {
  const { options = {} } = client as { options?: ResendOptions }
  if (isCluster(client)) return options.retryDelayOnFailover ?? 0
  if (options.autoResendUnfulfilledCommands === false) return Number.POSITIVE_INFINITY
  return retriesByDefault(client, options) ? DEFAULT_RETRY_MS : 0
}

/**
 * Whether `retryStrategy` is the default. A copy of the client without that option has the default; it never connects.
 */
function retriesByDefault(client: IoRedisShape, { retryStrategy, Connector }: ResendOptions): boolean {
  const { duplicate } = client as { duplicate?: (options: object) => { options?: ResendOptions } }
  if (duplicate === undefined || typeof retryStrategy !== 'function' || Connector !== undefined) return false
  const copy = duplicate.call(client, { retryStrategy: undefined, lazyConnect: true })
  return copy.options?.retryStrategy === retryStrategy
}

function atOnce(sends: readonly (() => void)[]): void {
  for (const send of sends) send()
}

function ioRedisLink(client: IoRedisShape & IoRedisBuffers): RedisLink {
  return {
    isCluster: isCluster(client),
    resendsAfterMs: resendsAfterMs(client),
    isReady: () => client.status === 'ready',
    together: isCluster(client) ? send => corked(client, send) : send => send(),
    inTurn: atOnce, // each call is one write
    whenReady(callback) {
      if (client.status === 'ready') return callback()
      client.once('ready', callback)
      // A lazy client would connect with the first command; the store sends none before the client is ready.
      if (client.status === 'wait') client.connect().catch(() => undefined)
    },
    evalsha: preparedEvalsha(client) ?? ((sha, keys, args) => client.evalshaBuffer(sha, keys.length, ...keys, ...args)),
    eval: (script, keys, args) => client.evalBuffer(script, keys.length, ...keys, ...args),
    info: async section => String(await client.info(section)),
    load: script =>
      Promise.all((isCluster(client) ? client.nodes('master') : [client]).map(one => one.script('LOAD', script))),
  }
}

/** Tells node-redis to return a Buffer for `$`, a bulk string. */
const AS_BYTES = { typeMapping: { 36: (globalThis as { Buffer?: unknown }).Buffer } }

function nodeRedisLink(
  client: NodeRedisShape | NodeRedisClusterShape,
  send: (args: string[], how?: object) => Promise<unknown>,
  primaries: () => readonly (NodeRedisShape | Promise<NodeRedisShape>)[],
  isCluster: boolean,
): RedisLink {
  const isReady = () => client.isReady ?? (client as NodeRedisClusterShape).isOpen
  const paced = new PacedSender()
  return {
    isCluster,
    resendsAfterMs: Number.POSITIVE_INFINITY, // it rejects calls that lost their connection
    isReady,
    together: send => send(), // it batches by itself
    inTurn: isCluster ? atOnce : sends => paced.send(sends),
    whenReady(callback) {
      if (isReady()) return callback()
      client.once(isCluster ? 'connect' : 'ready', callback)
    },
    evalsha: (sha, keys, args) => send(['EVALSHA', sha, String(keys.length), ...keys, ...args], AS_BYTES),
    eval: (script, keys, args) => send(['EVAL', script, String(keys.length), ...keys, ...args], AS_BYTES),
    info: async section => String(await send(['INFO', section])),
    load: script => Promise.all(primaries().map(async one => (await one).sendCommand(['SCRIPT', 'LOAD', script]))),
  }
}
