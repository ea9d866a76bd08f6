export {
  RateLimiterMemory,
  type RateLimiterOptions,
  RateLimiterRedis,
  type RateLimiterRedisOptions,
  RateLimiterValkey,
} from './rate-limiter-flexible/limiter.ts'
export {
  BurstyRateLimiter,
  RateLimiterCluster,
  RateLimiterClusterMaster,
  RateLimiterClusterMasterPM2,
  RateLimiterCompatibleAbstract,
  RateLimiterDrizzle,
  RateLimiterDrizzleNonAtomic,
  RateLimiterDynamo,
  RateLimiterEtcd,
  RateLimiterEtcdNonAtomic,
  RateLimiterEtcdTransactionFailedError,
  RateLimiterMemcache,
  RateLimiterMongo,
  RateLimiterMySQL,
  RateLimiterPostgres,
  RateLimiterPrisma,
  RateLimiterRedisNonAtomic,
  RateLimiterSQLite,
  RateLimiterValkeyGlide,
  RLWrapperBlackAndWhite,
  RLWrapperTimeouts,
} from './rate-limiter-flexible/not-supported.ts'
export { RateLimiterQueue, RateLimiterQueueError } from './rate-limiter-flexible/queue.ts'
export { RateLimiterRes } from './rate-limiter-flexible/result.ts'
export { RateLimiterUnion } from './rate-limiter-flexible/union.ts'
