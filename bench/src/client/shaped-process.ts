// One process of paced calls: node shaped-process.js <port of Redis> <calls>. Starts on an order, and answers
// when each call began.
import { Redis } from 'ioredis'
import { leakyBucket } from 'sluice'
import { shape } from 'sluice/client'
import { redisStore } from 'sluice/redis'
import { answer, endWithParent } from '../child.ts'

endWithParent()
const [port = '', calls = ''] = process.argv.slice(2)
const store = redisStore(new Redis(Number(port), '127.0.0.1'), { deadline: '1s' })
const starts: number[] = []
const paced = shape(() => void starts.push(performance.timeOrigin + performance.now()), {
  policy: leakyBucket({ capacity: 100_000, leak: '14/s' }),
  store,
})
process.once('message', async () => {
  await Promise.all(Array.from({ length: Number(calls) }, () => paced()))
  answer(starts)
})
process.send?.('ready')
