import { tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/fetch'

const limited = rateLimit({
  name: 'reports',
  policy: tokenBucket({ capacity: 10, refill: '10/h' }),
  // A handler sees no socket. The host is the one proxy in front of it and sends the client's address in
  // X-Forwarded-For.
  trustProxy: 1,
})

interface Context {
  params: Promise<{ id: string }>
}

export const GET = limited(async (_: Request, { params }: Context) => {
  const { id } = await params
  return Response.json({ id })
})
