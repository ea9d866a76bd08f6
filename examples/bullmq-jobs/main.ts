import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { redisStore } from 'sluice/redis'
import { QUEUE, startWorker } from './app.ts'

const connect = () => new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1', { maxRetriesPerRequest: null })
const queue = new Queue(QUEUE, { connection: connect() })
await queue.addBulk(Array.from({ length: 200 }, (_, i) => ({ name: 'text', data: { to: `+49 ${i}`, text: 'hello' } })))

const { stop } = startWorker(connect(), redisStore(connect()), async ({ to }) => console.log('to', to))
process.once('SIGINT', async () => {
  await stop()
  process.exit(0)
})
