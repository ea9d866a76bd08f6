import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { redisStore } from 'sluice/redis'
import { type RedisServer, startRedis, until } from 'sluice-harness'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { QUEUE, startWorker, type TextMessage } from './app.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

function connect(): Redis {
  const client = new Redis(redis.port, redis.host, { maxRetriesPerRequest: null })
  onTestFinished(() => client.disconnect())
  return client
}

async function serverMs(client: Redis): Promise<number> {
  const [seconds, microseconds] = await client.time()
  return Number(seconds) * 1000 + Number(microseconds) / 1000
}

test('two workers send every message once, and together no faster than the carrier allows', async () => {
  const queue = new Queue<TextMessage>(QUEUE, { connection: connect() })
  const clock = connect()
  const sent: { to: string; at: number }[] = []
  const send = async ({ to }: TextMessage) => {
    sent.push({ to, at: await serverMs(clock) })
  }
  const startedAt = await serverMs(clock)
  await queue.addBulk(Array.from({ length: 40 }, (_, i) => ({ name: 'text', data: { to: `${i}`, text: 'hello' } })))
  // On a busy machine the usual deadline would turn a test into an outage.
  const workers = [1, 2].map(() => startWorker(connect(), redisStore(connect(), { deadline: '10s' }), send))
  await until('all messages are sent', async () => sent.length === 40, { withinMs: 30_000 })
  for (const { stop } of workers) await stop()
  await queue.close()
  expect(new Set(sent.map(({ to }) => to)).size).toBe(40)
  // The nth start is booked 20 ms after the one before, so none can come earlier than its slot.
  const tooEarly = sent.toSorted((a, b) => a.at - b.at).filter(({ at }, n) => at < startedAt + n * 20)
  expect(tooEarly).toEqual([])
})
