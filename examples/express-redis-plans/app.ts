import express, { type NextFunction, type Request, type Response } from 'express'
import { type Store, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/express'
import { all, firstOf, ip, plans, route, user } from 'sluice/http'

export function createApp(store: Store) {
  const app = express()
  app.use(signIn)
  app.use(
    rateLimit({
      store,
      trustProxy: ['10.0.0.0/8'],
      limits: {
        caller: {
          policy: plans({ anonymous: '60/h', free: '100/m', pro: '1000/m' }, r => r.account?.plan),
          key: firstOf(
            user(r => r.account?.userId),
            ip(),
          ),
        },
        search: {
          policy: tokenBucket({ capacity: 20, refill: '5/s' }),
          key: all(ip(), route()),
          when: r => r.route === '/search',
          cost: 5,
          unit: 'points',
        },
      },
    }),
  )
  app.get('/orders/:id', (request, response) => void response.json({ id: request.params.id }))
  app.get('/search', (_, response) => void response.json({ found: [] }))
  return app
}

interface Account {
  userId: string
  plan: string
}

declare global {
  namespace Express {
    interface Request {
      account?: Account | undefined
    }
  }
}

/** The user of each API key, with the plan. A real service reads this from its database. */
const ACCOUNTS: Readonly<Record<string, Account>> = {
  'Bearer token-of-fay': { userId: 'fay', plan: 'free' },
  'Bearer token-of-pat': { userId: 'pat', plan: 'pro' },
}

/** The limiter runs after this, so it knows authenticated users. All other callers are anonymous. */
function signIn(request: Request, _: Response, next: NextFunction): void {
  request.account = ACCOUNTS[request.get('authorization') ?? '']
  next()
}
