import { createLimiter, slidingLog } from 'sluice'

const limiter = createLimiter(slidingLog({ limit: 2, window: '1m' }))
globalThis.answers = [1, 2, 3].map(() => limiter.consume('a').allowed)
