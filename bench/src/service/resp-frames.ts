import type { Keys } from '../keys.ts'

/** At most this many pipelines are built. After them, those after the first round of all keys are sent again. */
const COMMANDS = 60_000

/** Whole pipelines, with one command for each key in turn. */
export function framesOf(keys: Keys, pipeline: number, command: (key: string) => readonly string[]): Buffer[] {
  const frames: Buffer[] = []
  for (let at = 0; at < COMMANDS; at += pipeline) {
    const pipelined = Array.from({ length: pipeline }, (_, i) => encoded(command(`user:${keys.order[at + i]}`)))
    frames.push(Buffer.from(pipelined.join('')))
  }
  return frames
}

function encoded(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map(word => `$${word.length}\r\n${word}\r\n`).join('')}`
}

/**
 * What people run on a Redis that cannot load modules: the generic cell rate algorithm in a script, with the arguments
 * and the five integers of CL.THROTTLE, in microseconds.
 */
export const GCRA_SCRIPT = `
local limit = ARGV[1] + 1
local interval = math.floor(ARGV[3] * 1000000 / ARGV[2])
local tolerance = interval * limit
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local tat = tonumber(redis.call('GET', KEYS[1]) or now)
if tat < now then tat = now end
local ahead = tat + interval - now
if ahead > tolerance then
  local left = tat - now
  local remaining = math.max(0, math.floor((tolerance - left) / interval))
  return { 1, limit, remaining, math.ceil((ahead - tolerance) / 1000000), math.ceil(left / 1000000) }
end
redis.call('SET', KEYS[1], string.format('%.0f', now + ahead), 'PX', math.ceil(ahead / 1000))
return { 0, limit, math.floor((tolerance - ahead) / interval), -1, math.ceil(ahead / 1000000) }
`
