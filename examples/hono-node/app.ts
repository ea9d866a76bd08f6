import { Hono } from 'hono'
import { type Clock, slidingWindow } from 'sluice'
import { rateLimit } from 'sluice/hono'
import { apiKey } from 'sluice/http'

/** The API keys that this service has issued. */
const KEYS: ReadonlySet<string> = new Set(['key-of-fay', 'key-of-pat'])

export function createApp(settings: { clock?: Clock } = {}) {
  const app = new Hono()
  app.use(
    '/api/*',
    rateLimit({
      ...settings,
      policy: slidingWindow({ limit: 5, window: '1m' }),
      // A caller with an unknown key is limited by its address, so inventing keys does not help.
      key: apiKey({ verify: key => KEYS.has(key) }),
      headers: ['draft-11', 'x'],
    }),
  )
  app.get('/', context => context.text('no limit here'))
  app.get('/api/orders/:id', context => context.json({ id: context.req.param('id') }))
  // The handler reads the decision.
  app.get('/api/quota', context => context.json({ remaining: context.get('rateLimit')?.remaining }))
  return app
}
