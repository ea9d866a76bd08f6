import type { Cluster, Redis } from 'ioredis'
import type { Redis as Valkey, Cluster as ValkeyCluster } from 'iovalkey'
import type { createClient, createCluster } from 'redis'
import { expectTypeOf, test } from 'vitest'
import type { redisStore } from './index.ts'

type Accepted = Parameters<typeof redisStore>[0]

/** By type alone: `check:types` fails where one of them would need a cast. */
test('every client is taken as it is', () => {
  expectTypeOf<Redis>().toExtend<Accepted>()
  expectTypeOf<Cluster>().toExtend<Accepted>()
  expectTypeOf<Valkey>().toExtend<Accepted>()
  expectTypeOf<ValkeyCluster>().toExtend<Accepted>()
  expectTypeOf<ReturnType<typeof createClient>>().toExtend<Accepted>()
  expectTypeOf<ReturnType<typeof createCluster>>().toExtend<Accepted>()
})
