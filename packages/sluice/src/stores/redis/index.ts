export type { StoreEvent } from '../remote/remote-store.ts'
export type { RedisClient } from './client/client.ts'
export { type RedisStats, type RedisStore, type RedisStoreOptions, redisStore } from './redis-store.ts'
