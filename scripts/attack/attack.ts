import type { Site } from './site.ts'

/** One attack on a public surface: a protocol of the service, or the library's public names. */
export interface Attack {
  readonly name: string
  /** The attempt in a few words. */
  readonly tried: string
  /** Also part of `npm test`: takes a second or two and does not depend on timing. */
  readonly isQuick: boolean
  run(site: Site): Promise<Result>
}

export interface Result {
  readonly attempts: number
  /** How much got through, in the attack's own unit. */
  readonly through: number
  /** How much may get through. */
  readonly allowed: number
  /** The unit, if the attack does not count attempts. */
  readonly unit?: string
}

export interface Outcome {
  readonly attack: Attack
  /** Undefined if the attack did not finish. */
  readonly result?: Result
  readonly error?: string
}

export function held({ result }: Outcome): boolean {
  return result !== undefined && result.through <= result.allowed
}

/** Runs an attack for a limited time. An attack that hangs counts as one that got through. */
export async function outcomeOf(attack: Attack, open: () => Site, longestMs: number): Promise<Outcome> {
  const site = open()
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not over after ${longestMs / 1000} s`)), longestMs)
  })
  try {
    return { attack, result: await Promise.race([attack.run(site), tooLong]) }
  } catch (error) {
    return { attack, error: String((error as Error).stack ?? error) }
  } finally {
    clearTimeout(timer)
    await site.close()
  }
}

const count = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 1 })

export function table(outcomes: readonly Outcome[]): string {
  const lines = [
    ['attack', 'tried', 'attempts', 'through', 'allowed', '', 'verdict'],
    ...outcomes.map(outcome => {
      const { attack, result } = outcome
      const numbers = result === undefined ? ['', '', ''] : [result.attempts, result.through, result.allowed].map(count)
      return [attack.name, attack.tried, ...numbers, result?.unit ?? '', held(outcome) ? 'held' : 'GOT THROUGH']
    }),
  ]
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map(line => line[column]!.length)))
  const isNumber = (column: number) => column >= 2 && column <= 4
  const pad = (cell: string, column: number) =>
    isNumber(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)
  return lines.map(line => line.map(pad).join('  ').trimEnd()).join('\n')
}
