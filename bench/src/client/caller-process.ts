// One process of callers: node caller-process.js <url> <port of Redis> <kind> <ms>. Starts on an order.
import { Redis } from 'ioredis'
import { createFetch } from 'sluice/client'
import { redisStore } from 'sluice/redis'
import { answer, endWithParent } from '../child.ts'
import { eightCallers, type Kind, policyOf } from './limited-server.ts'

endWithParent()
const [url = '', port = '', kind = '', ms = ''] = process.argv.slice(2)
const store = redisStore(new Redis(Number(port), '127.0.0.1'), { deadline: '1s' })
const limited = createFetch({ policy: policyOf(kind as Kind), store, maxWait: '2m' })
process.once('message', async () => {
  await eightCallers(async () => (await limited(url)).text(), Number(ms))
  answer('done')
})
process.send?.('ready')
