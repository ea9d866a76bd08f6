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

/** What these clients have, and their types leave out. */
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

/** A node-redis client for a cluster: it must be told by which key to choose the node. */
export interface NodeRedisClusterShape {
  readonly isReady?: boolean
  readonly isOpen: boolean
  readonly masters: readonly unknown[]
  nodeClient(node: never): Promise<NodeRedisShape>
  sendCommand(firstKey: string | undefined, isReadonly: boolean, args: string[], options?: object): Promise<unknown>
  once(event: string, listener: () => void): unknown
}

export type RedisClient = IoRedisShape | NodeRedisShape | NodeRedisClusterShape

/** As much of a client as the store needs. To add a client is to write one of these. */
export interface RedisLink {
  /** Keys of one call must share a hash slot. */
  readonly isCluster: boolean
  /** The soonest that a call which lost its connection is sent again, perhaps for the second time; Infinity for never. */
  readonly resendsAfterMs: number
  /** What is sent now goes out now, and into no queue of the client's own. */
  isReady(): boolean
  /** What is sent meanwhile leaves at once, in as few pieces as can be. */
  together(send: () => void): void
  /** Calls for one server leave in this order, each in a piece of its own: the server begins while we write the next. */
  inTurn(sends: readonly (() => void)[]): void
  /** Calls back when the connection stands, which may be at once. */
  whenReady(callback: () => void): void
  /** Scripts answer in bytes. */
  evalsha(sha: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  eval(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  info(section: string): Promise<string>
  /** Makes every primary know a script, and connects to those it is not connected to yet. */
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
  // One of Sentinel has them, too, but its sendCommand wants something else first.
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

/** What of its options says when a client repeats a command that got no answer. */
interface ResendOptions {
  autoResendUnfulfilledCommands?: boolean
  retryDelayOnFailover?: number
  retryStrategy?: unknown
  Connector?: unknown
}

/** What ioredis and iovalkey wait at least before they connect again, unless they were told how long. */
const DEFAULT_RETRY_MS = 50

/** How soon it connects again a function says, and one of the user's may say at once. A cluster waits a while. */
function resendsAfterMs(client: IoRedisShape): number {
  const { options = {} } = client as { options?: ResendOptions }
  if (isCluster(client)) return options.retryDelayOnFailover ?? 0
  if (options.autoResendUnfulfilledCommands === false) return Number.POSITIVE_INFINITY
  return retriesByDefault(client, options) ? DEFAULT_RETRY_MS : 0
}

/** Is it the function that a copy of the client has which was given none? The copy is not used, and never connects. */
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
    inTurn: atOnce, // each is a write
    whenReady(callback) {
      if (client.status === 'ready') return callback()
      client.once('ready', callback)
      // A lazy client would connect with the first command; ours are not sent before it is ready.
      if (client.status === 'wait') client.connect().catch(() => undefined)
    },
    evalsha: preparedEvalsha(client) ?? ((sha, keys, args) => client.evalshaBuffer(sha, keys.length, ...keys, ...args)),
    eval: (script, keys, args) => client.evalBuffer(script, keys.length, ...keys, ...args),
    info: async section => String(await client.info(section)),
    load: script =>
      Promise.all((isCluster(client) ? client.nodes('master') : [client]).map(one => one.script('LOAD', script))),
  }
}

/** node-redis makes a Buffer of what it finds under `$`, a bulk string, if told so. */
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
    resendsAfterMs: Number.POSITIVE_INFINITY, // it rejects what has lost its connection
    isReady,
    together: send => send(), // it does so by itself
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
