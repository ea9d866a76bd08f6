import { type ErrorCode, expected, isAsyncFunction } from './errors.ts'

/**
 * Checks the options of one call: they are an object, and every name is among `known`. Returns them without those that
 * are `undefined`, so that `{ key: undefined }` means the same as `{}`.
 */
export function checkOptions<T extends object>(
  call: string,
  options: T,
  known: readonly string[],
  code: ErrorCode = 'SLUICE_BAD_OPTION',
): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw expected(code, `options of ${call} as { ${known.join(', ')} }`, options)
  }
  let someUndefined = false
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name)) {
      throw expected(code, `an option of ${call}`, name, nameAdvice(name, known))
    }
    someUndefined ||= value === undefined
  }
  if (!someUndefined) return options
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T
}

function nameAdvice(name: string, known: readonly string[]): string {
  const meant = nearestName(name, known)
  if (meant === undefined) return `known are ${known.join(', ')}`
  return meant === 'policy' ? "write policy: '100/m'" : `write ${meant}`
}

export function checkFunction(what: string, value: unknown, advice = ''): void {
  if (typeof value !== 'function') throw expected('SLUICE_BAD_OPTION', `${what} as a function`, value, advice)
}

/** Refuses an async function, because the limiter would take its promise for the answer. */
export function checkSyncFunction(what: string, value: unknown, advice = ''): void {
  checkFunction(what, value)
  if (isAsyncFunction(value))
    throw expected('SLUICE_BAD_OPTION', `${what} as a function that is not async`, value, advice)
}

/** The known name that was probably meant: a similar spelling, or the name in another rate limiter. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const bare = bareName(name)
  const [, ours = ''] = FOREIGN_NAMES.find(([theirs]) => theirs.split(' ').includes(bare)) ?? []
  const foreign = ours.split(' ').find(one => known.includes(one))
  return foreign ?? (known.find(one => bareName(one) === bare) || known.find(one => isTypingError(bare, bareName(one))))
}

function bareName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '')
}

/** Names in other rate limiters, in lower case, and the names here: the first of them that the call knows is meant. */
const FOREIGN_NAMES: readonly (readonly [theirs: string, ours: string])[] = [
  ['keygenerator generatekey gettracker identifier', 'key'],
  ['windowms timewindow', 'window policy'],
  ['duration', 'window for policy'],
  ['interval', 'window refill policy'],
  ['refillrate refillinterval tokensperinterval', 'refill'],
  ['ttl', 'window for policy ttl_ms'],
  ['max requests', 'limit policy'],
  ['points', 'limit policy cost'],
  ['limit window', 'policy'],
  ['tokens', 'cost capacity'],
  ['weight', 'cost'],
  ['throttlers limiters', 'limits'],
  ['standardheaders legacyheaders enabledraftspec', 'headers'],
  ['blockduration', 'blockFor for'],
  ['ban', 'blockFor'],
  ['keyprefix namespace', 'prefix'],
  ['nextpass skipif', 'skip'],
  ['allowlist whitelist', 'allow'],
  ['denylist blacklist', 'deny'],
  ['handler message', 'refuse'],
  ['statuscode', 'status refuse'],
  ['skipfailedrequests skipsuccessfulrequests requestwassuccessful', 'countWhen'],
  ['passonstoreerror skiponerror insurancelimiter', 'onOutage'],
  ['ephemeralcache inmemoryblockonconsumed', 'denyCache'],
  ['redis storeclient', 'store'],
  ['timeout', 'maxWait deadline'],
  ['maxqueuesize', 'maxQueue'],
  ['highwater', 'maxQueue maxBacklog'],
  ['milliseconds', 'for window'],
]

/**
 * Allows one typing error, or two in a longer name: a letter too many, missing, wrong or swapped with its neighbour.
 */
function isTypingError(name: string, known: string): boolean {
  const most = known.length < 4 ? 0 : known.length < 8 ? 1 : 2
  return Math.abs(name.length - known.length) <= most && distance(name, known) <= most
}

/** How many letters must be added, removed, replaced, or changed with their neighbour (Damerau-Levenshtein). */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let least = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + (same ? 0 : 1))
      if (i > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, rows[i - 2]![j - 2]! + 1)
      row.push(least)
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
