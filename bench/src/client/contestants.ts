import Bottleneck from 'bottleneck'
import got from 'got'
import ky from 'ky'
import pThrottle from 'p-throttle'
import { createFetch } from 'sluice/client'
import { Agent, RetryAgent, request } from 'undici'

export interface Client {
  readonly name: string
  /** How its user configured the limit by hand. */
  readonly told: string
  start(url: string): () => Promise<unknown>
}

const LIMIT = 100
const INTERVAL_MS = 10_000

const read = async (response: Response) => {
  await response.text()
  if (response.status !== 200) throw new Error(String(response.status))
}

export const sluice: Client = {
  name: 'sluice',
  told: 'nothing',
  start(url) {
    const limited = createFetch({ maxWait: '2m' })
    return async () => read(await limited(url))
  },
}

/** Each client configured as its documentation says, with its own retries. */
export const peers: readonly Client[] = [
  {
    name: 'undici RetryAgent',
    told: 'nothing',
    start(url) {
      const dispatcher = new RetryAgent(new Agent(), { maxRetries: 5 })
      return async () => (await request(url, { dispatcher })).body.text()
    },
  },
  { name: 'got', told: 'nothing', start: url => async () => got(url, { retry: { limit: 5 } }).text() },
  { name: 'ky', told: 'nothing', start: url => async () => ky(url, { retry: { limit: 5 } }).text() },
  {
    name: 'fetch, retried after Retry-After',
    told: 'nothing',
    start: url => async () => {
      for (;;) {
        const response = await fetch(url)
        if (response.status !== 429) return read(response)
        await response.text()
        await new Promise(resolve => setTimeout(resolve, 1000 * Number(response.headers.get('retry-after'))))
      }
    },
  },
  {
    name: 'p-throttle',
    told: '100 per 10 s',
    start: url => pThrottle({ limit: LIMIT, interval: INTERVAL_MS })(async () => read(await fetch(url))),
  },
  {
    name: 'bottleneck',
    told: '100 per 10 s',
    start(url) {
      const reservoir = { reservoir: LIMIT, reservoirRefreshAmount: LIMIT, reservoirRefreshInterval: INTERVAL_MS }
      const limiter = new Bottleneck(reservoir)
      return () => limiter.schedule(async () => read(await fetch(url)))
    },
  },
]
