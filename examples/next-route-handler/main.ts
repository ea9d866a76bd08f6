import { serve } from '@hono/node-server'
import { GET } from './app/api/reports/[id]/route.ts'

// Stands in for Next.js, which calls a route handler with the request and the parameters of the path.
serve({ fetch: request => GET(request, paramsOf(request)), hostname: '127.0.0.1', port: 3000 }, () => {
  console.log('http://127.0.0.1:3000/api/reports/7')
})

function paramsOf({ url }: Request) {
  return { params: Promise.resolve({ id: new URL(url).pathname.split('/').at(-1)! }) }
}
