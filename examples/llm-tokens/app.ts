import express, { type Request, type Response } from 'express'
import { type Clock, concurrency, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/express'
import { apiKey } from 'sluice/http'
import { askOf, estimate, type Model } from './model.ts'

/** The API keys that this service has issued. */
const KEYS: ReadonlySet<string> = new Set(['key-of-fay', 'key-of-pat'])

declare global {
  namespace Express {
    interface Request {
      /** The tokens used so far. The handler writes it, and the limit reads it when the response has ended. */
      usedTokens?: number
    }
  }
}

export function createApp(model: Model, settings: { clock?: Clock } = {}) {
  const key = apiKey({ header: 'authorization', verify: value => KEYS.has(value) })
  const limited = rateLimit({
    ...settings,
    limits: {
      tokens: {
        policy: tokenBucket({ capacity: 10_000, refill: '10000/m' }),
        key,
        cost: r => estimate(r.body), // reserved at first …
        unit: 'tokens',
        // … and settled for the tokens used. A caller that leaves before the first token pays the estimate.
        settle: ({ aborted }, r) => r.usedTokens ?? (aborted ? estimate(r.body) : 0),
      },
      streams: { policy: concurrency({ limit: 2, ttl: '5m' }), key },
    },
  })
  const app = express()
  app.use(express.json())
  app.post('/chat', limited, (request, response) => chat(model, request, response))
  return app
}

async function chat(model: Model, request: Request, response: Response): Promise<void> {
  const ask = askOf(request.body)
  if (ask === undefined) {
    response.status(400).json({ error: 'expected { prompt, maxTokens }' })
    return
  }
  response.type('text/event-stream')
  for await (const { token, usedTokens } of model(ask)) {
    if (response.destroyed) return
    request.usedTokens = usedTokens
    response.write(`data: ${token}\n\n`)
  }
  response.end()
}
