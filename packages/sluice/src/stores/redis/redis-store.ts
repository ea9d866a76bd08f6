import { checkOptions } from '../../check-options.ts'
import { afterUnref, systemClock, TICKS_PER_MS } from '../../clock.ts'
import { type Duration, parseDuration } from '../../duration.ts'
import { expected } from '../../errors.ts'
import { denyCache } from '../remote/deny-cache.ts'
import type { StoreEvent } from '../remote/remote-store.ts'
import { resilient } from '../remote/resilient.ts'
import type { Store } from '../store.ts'
import { linkOf, type RedisClient } from './client/client.ts'
import { quickenStrings } from './client/quick-strings.ts'
import { tagOf } from './client/tags.ts'
import { SCRIPTS } from './lua/scripts.generated.ts'
import { RedisRemote } from './redis-remote.ts'
import { warnings } from './warnings.ts'
import { newId } from './wire/hold.ts'

export interface RedisStoreOptions {
  /** How long a decision may take; `false` sets no bound. `'25ms'` by default. */
  deadline?: Duration | false
  /** How long the first decisions wait for the connection. `'1s'` by default. */
  connectWait?: Duration
  /** Answers refusals again without asking Redis, until they may pass and for at most `for`; `false` always asks. */
  denyCache?: { for?: Duration; maxEntries?: number } | false
  /** Whether decisions asked for in one round of the event loop travel together. `true` by default. */
  batch?: boolean
  /** How many hash tags keys are spread over: in a cluster, the most slots that can be used. 128 by default. */
  tags?: number
  /** The prefix of the store's own few keys. `'sluice'` by default. */
  prefix?: string
  /**
   * How many processes share a limit while Redis is down; `'auto'` counts them. Without it, each process enforces half.
   */
  instances?: number | 'auto'
  /** Renews the slots of `concurrency` limits while their decisions are in use. `false` by default: a slot ends with its ttl. */
  heartbeat?: boolean
  /** Called at outages and recoveries, and if the server evicts keys. By default a process warning. */
  onEvent?: (event: StoreEvent) => void
}

export interface RedisStats {
  /** Script calls made. */
  readonly calls: number
  /** Refusals answered without asking Redis. */
  readonly cached: number
  /** Charges not answered within the deadline. */
  readonly timeouts: number
  /** Replies that came when no caller waited for them any more. Their charges may have been taken. */
  readonly late: number
  /** Shards that are not asked at the moment. */
  readonly open: number
}

export interface RedisStore extends Store<'async'> {
  stats(): RedisStats
}

const KNOWN = ['deadline', 'connectWait', 'denyCache', 'batch', 'tags', 'prefix', 'instances', 'heartbeat', 'onEvent']
const COUNT_EVERY_MS = 5000
const RECHECK_EVERY_MS = 60_000

/** One limit over any number of processes. State and time are those of a Redis or Valkey server or cluster. */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): RedisStore {
  const { deadlineMs, connectWaitMs, tags, prefix } = checked(options)
  const report = options.onEvent ?? warnings()
  quickenStrings()
  const remote = new RedisRemote({
    link: linkOf(client),
    scripts: SCRIPTS,
    prefix,
    tagOf: key => tagOf(key, tags),
    validTicks: deadlineMs === undefined ? 0 : deadlineMs * TICKS_PER_MS,
    batch: options.batch ?? true,
    heartbeat: options.heartbeat ?? false,
    onSetBack: ticks => report({ type: 'clock-set-back', byMs: ticks / TICKS_PER_MS }),
  })
  remote.connect(policy => report({ type: 'eviction', policy }), RECHECK_EVERY_MS)
  if (options.instances === 'auto') countInstances(remote)
  else remote.localShare = options.instances === undefined ? 0.5 : 1 / options.instances

  const { denyCache: cache } = options
  const cached = cache === false ? undefined : denyCache(remote, cacheOptions(cache))
  const guarded =
    deadlineMs === undefined
      ? undefined
      : resilient(cached ?? remote, remote, { deadlineMs, connectWaitMs, onEvent: report })
  const store: Store<'async'> = guarded ?? cached ?? remote
  return Object.assign(store, {
    stats: (): RedisStats => ({
      ...remote.counters,
      cached: cached?.hits ?? 0,
      timeouts: guarded?.timeouts ?? 0,
      open: guarded?.open ?? 0,
    }),
  })
}

function checked(options: RedisStoreOptions) {
  checkOptions('redisStore', options, KNOWN)
  if (options.denyCache !== undefined && options.denyCache !== false) {
    checkOptions('redisStore denyCache', options.denyCache, ['for', 'maxEntries'])
  }
  const { deadline = '25ms', connectWait = '1s', tags = 128, prefix = 'sluice', instances = 2 } = options
  if (!Number.isInteger(tags) || tags < 1 || tags > 16_384) {
    throw expected('SLUICE_BAD_OPTION', 'tags as a whole number from 1 to 16384', tags)
  }
  if (typeof prefix !== 'string') throw expected('SLUICE_BAD_OPTION', 'prefix as a string', prefix)
  if (instances !== 'auto' && !(Number.isInteger(instances) && instances >= 1)) {
    throw expected('SLUICE_BAD_OPTION', "instances as a whole number, 1 or more, or 'auto'", instances)
  }
  for (const name of ['batch', 'heartbeat'] as const) {
    const flag = options[name] ?? true
    if (typeof flag !== 'boolean') throw expected('SLUICE_BAD_OPTION', `${name} as true or false`, flag)
  }
  if (options.onEvent !== undefined && typeof options.onEvent !== 'function') {
    throw expected('SLUICE_BAD_OPTION', 'onEvent as a function', options.onEvent)
  }
  return {
    deadlineMs: deadline === false ? undefined : parseDuration(deadline, 'redisStore deadline', { min: 1 }),
    connectWaitMs: parseDuration(connectWait, 'redisStore connectWait'),
    tags,
    prefix,
  }
}

function cacheOptions(cache: Exclude<RedisStoreOptions['denyCache'], false>) {
  const { for: longest = '1s', maxEntries = 10_000 } = cache ?? {}
  return { forMs: parseDuration(longest, 'redisStore denyCache.for', { min: 1 }), maxEntries }
}

/** Registers this process with the others regularly, and counts them. Until the first count its share is half. */
function countInstances(remote: RedisRemote): void {
  const id = String(newId())
  remote.localShare = 0.5
  const count = async () => {
    await remote.connecting
    if (remote.closed) return
    await remote.instances(id, 3 * COUNT_EVERY_MS * TICKS_PER_MS).then(
      found => (remote.localShare = 1 / Math.max(1, found)),
      () => undefined, // the last count still holds, and it matters during an outage
    )
    afterUnref(systemClock, COUNT_EVERY_MS, count)
  }
  void count()
}
