import { expected } from '../errors.ts'

const UNITS: readonly (readonly [ms: number, name: string, pattern: RegExp])[] = [
  [604_800_000, 'week', /^w(eeks?)?$/],
  [86_400_000, 'day', /^d(ays?)?$/],
  [3_600_000, 'hour', /^h(ours?|rs?)?$/],
  [60_000, 'minute', /^m(in(ute)?s?)?$/],
  [1000, 'second', /^s(ec(ond)?s?)?$/],
  [1, 'millisecond', /^(ms|millisecs?|milliseconds?)?$/],
]

/** `60000`, `'60000'` or `'1 minute'`. */
export function millisecondsOf(window: number | string): number {
  const [, count = '', unit = ''] = /^([\d.]+)\s*([a-z]*)$/i.exec(String(window).trim()) ?? []
  const ms = Number(count) * (UNITS.find(([, , pattern]) => pattern.test(unit.toLowerCase()))?.[0] ?? Number.NaN)
  if (count !== '' && ms >= 1) return Math.trunc(ms)
  throw expected('SLUICE_BAD_DURATION', "timeWindow as milliseconds or a text such as '1 minute'", window)
}

/** A time as @fastify/rate-limit writes it: `1 minute`. */
export function textOf(seconds: number): string {
  const [ms, name] = UNITS.slice(1).find(([size]) => seconds * 1000 >= size) ?? UNITS[4]!
  const count = Math.round((seconds * 1000) / ms)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
