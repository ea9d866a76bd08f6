// One process of a fleet: has a client and a store of its own, and asks as its parent says.
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { createLimiter } from 'sluice'
import { redisStore } from 'sluice/redis'
import type { Place, Task, Told } from './task.ts'

const { nodes, isCluster } = JSON.parse(process.argv[2]!) as Place
const client = isCluster ? new Cluster([...nodes]) : new Redis(nodes[0]!.port, nodes[0]!.host)

// End when the parent is gone.
process.on('disconnect', () => process.exit())
process.on('message', async (task: Task) => process.send!(await perform(task)))
await new Promise<void>(resolve => client.once('ready', resolve))
process.send!('ready')

async function perform({ policy, key, callers, startAt, endAt, denyCache }: Task): Promise<Told> {
  // A long deadline, so that a busy machine does not count as an outage.
  const store = redisStore(client, { deadline: '1s', ...(denyCache ? {} : { denyCache: false }) })
  const limiter = createLimiter(policy, { store })
  const told = { admitted: [] as number[], refused: [] as number[], cached: 0, degraded: 0 }

  const call = async () => {
    while (Date.now() < endAt) {
      const { allowed, at, degraded, limits } = await limiter.consume(key)
      if (degraded !== false) told.degraded++
      else if (allowed) told.admitted.push(Math.round(at * 1000))
      else if (limits[0]!.cached) told.cached++
      else told.refused.push(Math.round(at * 1000))
      // A refused caller retries soon, but lets other callers run first.
      if (!allowed) await sleep(1)
    }
  }
  await sleep(startAt - Date.now())
  await Promise.all(Array.from({ length: callers }, call))
  await store.close()
  return told
}
