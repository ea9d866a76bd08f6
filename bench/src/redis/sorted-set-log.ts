import type { Enter } from './contest.ts'
import { asking } from './load.ts'
import { ioredis } from './site.ts'

/** The usual exact log: a member for every admission, scored by its time. Members must differ, hence the counter. */
const ADMIT = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[1] * 1000))
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`

const FILL = `
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2])
for i = 1, ARGV[2] do redis.call('ZADD', KEYS[1], now, ARGV[3] .. i) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`

type Script = (key: string, windowMs: number, number: number, member: string) => Promise<number>

/** How many entries every key's log has when the timing starts. */
export function sortedSetLog(windowMs: number, limit: number, entries: number): Enter {
  return (site, load) => {
    const client = ioredis(site)
    client.defineCommand('sortedSetAdmit', { numberOfKeys: 1, lua: ADMIT })
    client.defineCommand('sortedSetFill', { numberOfKeys: 1, lua: FILL })
    const { sortedSetAdmit, sortedSetFill } = client as unknown as Record<string, Script>
    const [admit, fill] = [sortedSetAdmit!.bind(client), sortedSetFill!.bind(client)]
    let members = 0
    // Other processes add members to the same sets.
    const mark = process.pid.toString(36)
    const ask = (key: string) => admit(`z:${key}`, windowMs, limit, `${mark}${(members++).toString(36)}`)
    return {
      name: 'sorted-set log',
      ways: { 'an await each': asking(load, ask, answer => answer === 1) },
      prepare: async () => {
        for (let i = 0; i < load.keys.size; i++) await fill(`z:user:${i}`, windowMs, entries, 'f')
      },
    }
  }
}
