import { StoreUnavailable } from '../../../errors.ts'
import type { RedisLink } from './client.ts'

export interface ServerReport {
  /** Why the server cannot be used. */
  readonly unfit: StoreUnavailable | undefined
  /** The policy by which the server evicts keys when its memory is full; undefined if it evicts none. */
  readonly evicts: string | undefined
}

const OLDEST = { redis: [6, 2] } as const

/** What a server reports of itself. A server that forbids the question is accepted. */
export async function checkServer(link: RedisLink): Promise<ServerReport> {
  const [server, memory] = await Promise.all([infoOf(link, 'server'), infoOf(link, 'memory')])
  return { unfit: tooOld(server), evicts: evictionOf(memory) }
}

async function infoOf(link: RedisLink, section: string): Promise<string> {
  return link.info(section).catch(() => '')
}

function tooOld(info: string): StoreUnavailable | undefined {
  const version = field(info, 'redis_version')
  // Valkey reports what Redis 7.2 reports.
  if (version === undefined || field(info, 'server_name') === 'valkey') return undefined
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST.redis
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined
  const wanted = `Redis ${oldestMajor}.${oldestMinor} or newer, or Valkey`
  return new StoreUnavailable('SLUICE_SERVER_TOO_OLD', `expected ${wanted}, got Redis ${version}; upgrade the server`)
}

function evictionOf(info: string): string | undefined {
  const policy = field(info, 'maxmemory_policy')
  return policy === undefined || policy === 'noeviction' ? undefined : policy
}

function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.+?)\\r?$`, 'm').exec(info)?.[1]
}
