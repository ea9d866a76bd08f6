import { createLimiter, type Decision, type Limiter, limits, memoryStore, SluiceError, slidingWindow } from 'sluice'
import { shape } from 'sluice/client'
import { rateLimit } from 'sluice/express'
import { ip, user } from 'sluice/http'
import { redisStore } from 'sluice/redis'
import { fakeClock } from 'sluice/testing'

interface Caller {
  ip: string
}

const short: Limiter = createLimiter('100/m', { clock: fakeClock() })
const decision: Decision = short.consume('user:42', { cost: 5 })
const left: number = decision.remaining
const api = createLimiter({
  store: memoryStore(),
  limits: limits<Caller>({ ip: { policy: slidingWindow({ limit: 100, window: '1m' }), key: c => c.ip } }),
})
const allowed: boolean = api.consume({ ip: '203.0.113.7' }).allowed
const middleware = rateLimit({
  limits: { caller: { policy: '5/m', key: user() }, address: { policy: '9/m', key: ip() } },
})
export const remote = (client: Parameters<typeof redisStore>[0]) => createLimiter('5/m', { store: redisStore(client) })

// @ts-expect-error: no such option
export const misspelt = () => api.consume({ ip: '' }, { costs: 1 })
// @ts-expect-error: no such property, which proves that a decision is not `any`
export const nothing = decision.nothing
// @ts-expect-error: the in-process store returns no promise
export const promised = short.consume('a').then

let code = ''
try {
  short.consume('a', { cost: 0.9 })
} catch (error) {
  if (error instanceof SluiceError) code = error.code
}
console.log(JSON.stringify({ left, allowed, code, made: [typeof middleware, typeof shape] }))
