import { StoreUnavailable } from '../../../errors.ts'
import type { RedisLink } from './client.ts'

export interface ServerReport {
  /** Why the server cannot be used. */
  readonly unfit: StoreUnavailable | undefined
  /** The policy by which it throws keys away when its memory is full; undefined if it does not. */
  readonly evicts: string | undefined
}

const OLDEST = { redis: [6, 2] } as const

/** What a server says of itself. One that lets us not ask is taken as it is. */
export async function checkServer(link: RedisLink): Promise<ServerReport> {
  const [server, memory] = await Promise.all([infoOf(link, 'server'), infoOf(link, 'memory')])
  return { unfit: tooOld(server), evicts: evictionOf(memory) }
}

async function infoOf(link: RedisLink, section: string): Promise<string> {
  return link.info(section).catch(() => '')
}

function tooOld(info: string): StoreUnavailable | undefined {
  const version = field(info, 'redis_version')
  // Valkey says that it does what Redis 7.2 does.
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
