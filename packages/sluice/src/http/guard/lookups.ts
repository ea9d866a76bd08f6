import type { Maybe } from '../../maybe.ts'
import type { RequestFacts } from '../request/request-facts.ts'
import type { SafeLimit } from './safe-limit.ts'
import type { UserFunction } from './user-function.ts'

/** Finishes what is asked for a request; true if no limit concerns it. */
export type FinishLookups = () => Promise<boolean>

/**
 * Asks the user's functions before the limiter needs their answers. Those that answer at once come first. The others may
 * look into a database, so they are asked once the request has passed the limits that need neither them nor a store elsewhere.
 */
export class Lookups {
  private readonly skip: UserFunction<boolean> | undefined
  private readonly limits: readonly SafeLimit[]
  private readonly isOff: (limit: string) => boolean

  constructor(
    skip: UserFunction<boolean> | undefined,
    limits: readonly SafeLimit[],
    isOff: (limit: string) => boolean,
  ) {
    this.skip = skip
    this.limits = limits.filter(limit => limit.hasFunctions)
    this.isOff = isOff
  }

  get isEmpty(): boolean {
    return this.skip === undefined && this.limits.length === 0
  }

  /** For a preflight, which no look-up is made for. */
  skipsAtOnce(facts: RequestFacts): boolean {
    const { skip } = this
    return skip !== undefined && !skip.isAsync && skips(skip, facts) === true
  }

  /** True: the request is skipped. False: all is known. Else there are answers to wait for. */
  begin(facts: RequestFacts): boolean | FinishLookups {
    const { skip } = this
    const isSkipLate = skip?.isAsync === true
    const skipped = skip === undefined || isSkipLate ? false : skips(skip, facts)
    if (skipped === true) return true
    const late: SafeLimit[] = []
    const pending: Promise<void>[] = []
    for (const limit of this.limits) {
      if (this.isOff(limit.name)) continue
      if (limit.isAsync) late.push(limit)
      else {
        const prepared = limit.prepare(facts)
        if (prepared instanceof Promise) pending.push(prepared)
      }
    }
    if (skipped === false && !isSkipLate && late.length === 0 && pending.length === 0) return false
    return async () => {
      if ((await skipped) || (isSkipLate && (await skips(skip!, facts)))) return true
      await Promise.all(pending)
      await Promise.all(late.map(limit => limit.prepare(facts)))
      return false
    }
  }
}

/** A path that servers read in several ways is skipped only if it is in each of them. */
function skips(skip: UserFunction<boolean>, facts: RequestFacts): Maybe<boolean> {
  const asked = [facts, ...facts.elsewhere].map(at => skip.ask(at))
  if (!asked.some(one => one instanceof Promise)) return asked.every(Boolean)
  return Promise.all(asked).then(answers => answers.every(Boolean))
}
