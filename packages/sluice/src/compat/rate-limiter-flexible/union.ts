import { expected } from '../../errors.ts'
import { NamedLimiter } from '../../limiter/named-limiter.ts'
import { NAME, WindowRateLimiter } from './limiter.ts'
import { type RateLimiterRes, resultOf } from './result.ts'

/** Several limiters in one decision: the points are consumed in all of them or in none. */
export class RateLimiterUnion {
  private readonly limiter: NamedLimiter<string>

  constructor(...limiters: WindowRateLimiter[]) {
    const foreign = limiters.find(limiter => !(limiter instanceof WindowRateLimiter))
    if (foreign !== undefined || limiters.length === 0) {
      throw expected('SLUICE_BAD_OPTION', `RateLimiterUnion of limiters from sluice/compat/${NAME}`, foreign)
    }
    const limits = Object.fromEntries(limiters.map(({ keyPrefix, limit }) => [keyPrefix, limit]))
    if (Object.keys(limits).length < limiters.length) {
      const prefixes = limiters.map(limiter => limiter.keyPrefix)
      throw expected('SLUICE_BAD_OPTION', 'RateLimiterUnion of limiters with a keyPrefix each', prefixes)
    }
    // It counts where its limiters do, on purpose; `createLimiter` would warn of that.
    this.limiter = new NamedLimiter({ name: NAME, store: limiters[0]!.store }, limits, false)
  }

  /** Resolves with the results by `keyPrefix`; rejects with the results of the limiters that refuse. */
  async consume(key: string | number, points = 1): Promise<Record<string, RateLimiterRes>> {
    const { allowed, limits } = await this.limiter.consume(String(key), { cost: points })
    const told = allowed ? limits : limits.filter(limit => !limit.allowed)
    const results = Object.fromEntries(told.map(limit => [limit.name, resultOf(limit, points)]))
    if (allowed) return results
    throw results
  }
}
