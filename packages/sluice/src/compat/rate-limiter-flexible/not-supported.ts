import { SluiceError } from '../../errors.ts'
import { NAME } from './limiter.ts'

/** A class of rate-limiter-flexible that cannot be constructed here. */
function notSupported(name: string, instead: string): new (...given: readonly unknown[]) => object {
  return class {
    constructor() {
      throw new SluiceError('SLUICE_NOT_SUPPORTED', `${name} is not in sluice/compat/${NAME}: ${instead}`)
    }
  }
}

const inStore = (name: string) => notSupported(name, 'use RateLimiterRedis, or implement Store of Sluice')
const inCluster = (name: string) => notSupported(name, 'use RateLimiterRedis, or the service')

export const BurstyRateLimiter = notSupported('BurstyRateLimiter', 'use tokenBucket({ capacity, refill })')
export const RLWrapperBlackAndWhite = notSupported(
  'RLWrapperBlackAndWhite',
  'use allow and deny of an adapter, or a key that returns undefined',
)
export const RLWrapperTimeouts = notSupported('RLWrapperTimeouts', 'use deadline of redisStore()')
export const RateLimiterCompatibleAbstract = notSupported('RateLimiterCompatibleAbstract', 'implement Store of Sluice')
export const RateLimiterCluster = inCluster('RateLimiterCluster')
export const RateLimiterClusterMaster = inCluster('RateLimiterClusterMaster')
export const RateLimiterClusterMasterPM2 = inCluster('RateLimiterClusterMasterPM2')
export const RateLimiterRedisNonAtomic = notSupported('RateLimiterRedisNonAtomic', 'use RateLimiterRedis')
export const RateLimiterValkeyGlide = notSupported('RateLimiterValkeyGlide', 'use RateLimiterValkey with iovalkey')
export const RateLimiterMongo = inStore('RateLimiterMongo')
export const RateLimiterMySQL = inStore('RateLimiterMySQL')
export const RateLimiterPostgres = inStore('RateLimiterPostgres')
export const RateLimiterSQLite = inStore('RateLimiterSQLite')
export const RateLimiterPrisma = inStore('RateLimiterPrisma')
export const RateLimiterDrizzle = inStore('RateLimiterDrizzle')
export const RateLimiterDrizzleNonAtomic = inStore('RateLimiterDrizzleNonAtomic')
export const RateLimiterMemcache = inStore('RateLimiterMemcache')
export const RateLimiterDynamo = inStore('RateLimiterDynamo')
export const RateLimiterEtcd = inStore('RateLimiterEtcd')
export const RateLimiterEtcdNonAtomic = inStore('RateLimiterEtcdNonAtomic')
export const RateLimiterEtcdTransactionFailedError = inStore('RateLimiterEtcdTransactionFailedError')
