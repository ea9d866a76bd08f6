import { Hono } from 'hono'
import { type Clock, slidingWindow } from 'sluice'
import { rateLimit } from 'sluice/hono'
import { apiKey } from 'sluice/http'

/** Keys that were handed out. */
const KEYS: ReadonlySet<string> = new Set(['key-of-fay', 'key-of-pat'])

export function createApp(settings: { clock?: Clock } = {}) {
  const app = new Hono()
  app.use(
    '/api/*',
    rateLimit({
      ...settings,
      policy: slidingWindow({ limit: 5, window: '1m' }),
      // A key that nobody was given shares the limit of its address, so inventing keys buys nothing.
      key: apiKey({ verify: key => KEYS.has(key) }),
      headers: ['draft-11', 'x'],
    }),
  )
  app.get('/', context => context.text('no limit here'))
  app.get('/api/orders/:id', context => context.json({ id: context.req.param('id') }))
  // The handler reads what was decided.
  app.get('/api/quota', context => context.json({ remaining: context.get('rateLimit')?.remaining }))
  return app
}
