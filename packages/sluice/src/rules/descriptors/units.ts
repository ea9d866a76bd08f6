const DAY_MS = 86_400_000

/** The units of the protocol: their numbers on the wire, and their lengths as envoyproxy/ratelimit counts them. */
const UNITS = [
  { name: 'second', number: 1, ms: 1000 },
  { name: 'minute', number: 2, ms: 60_000 },
  { name: 'hour', number: 3, ms: 3_600_000 },
  { name: 'day', number: 4, ms: DAY_MS },
  { name: 'month', number: 5, ms: 30 * DAY_MS },
  { name: 'year', number: 6, ms: 365 * DAY_MS },
  { name: 'week', number: 7, ms: 7 * DAY_MS },
] as const

export type RateUnit = (typeof UNITS)[number]

export const UNIT_NAMES = UNITS.map(({ name }) => name)
/** The number for a period that is no unit. */
export const UNKNOWN_UNIT = 0

/** Case does not matter: `minute`, `MINUTE`. */
export function unitNamed(name: unknown): RateUnit | undefined {
  return typeof name === 'string' ? UNITS.find(unit => unit.name === name.toLowerCase()) : undefined
}

export function unitOfMs(ms: number): RateUnit | undefined {
  return UNITS.find(unit => unit.ms === ms)
}

/** The units of an override, which has no week. */
export function overrideUnit(number: number): RateUnit | undefined {
  return UNITS.find(unit => unit.number === number && unit.name !== 'week')
}
