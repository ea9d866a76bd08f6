import fastify from 'fastify'
import { type Clock, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/fastify'
import { ip } from 'sluice/http'

export async function createApp(settings: { clock?: Clock } = {}) {
  const app = fastify()
  await app.register(rateLimit, { ...settings, policy: tokenBucket({ capacity: 10, refill: '10/m' }) })

  app.get('/orders/:id', async request => request.params)

  // The handler reads the decision.
  app.get('/quota', async request => ({ remaining: request.rateLimit?.remaining }))

  // The same bucket, with a higher cost.
  app.get('/search', { config: { rateLimit: { cost: 5 } } }, async () => ({ found: [] }))

  // A limit of its own, beside the bucket: a request is charged to both or to neither.
  app.post(
    '/exports',
    { config: { rateLimit: { limits: { exports: { policy: '1/h', key: ip() } } } } },
    async (_, reply) => reply.code(202).send(),
  )

  // No limit at all.
  app.get('/health', { config: { rateLimit: false } }, async () => 'ok')
  return app
}
