import { connect } from 'node:http2'
import { once } from 'node:events'
import { startGrpc } from './grpc-server.ts'
process.on('SIGINT', () => process.exit(0))
const server = await startGrpc({ port: 0, patienceMs: 20, service: { shouldRateLimit: () => ({ overall: 1, statuses: [{ code: 1, limitRemaining: 1 }] }) } })
const session = connect(`http://127.0.0.1:${server.port}`)
const call = (path: string) => session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' })
const w = call('/grpc.health.v1.Health/Watch')
w.end(Buffer.alloc(5))
console.log(await once(w, 'data'))
const s = call('/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit')
s.on('response', h => console.log(h)); s.resume()
await once(s, 'close')
console.log('closed', w.closed)
session.destroy(); console.log('destroyed'); await server.close(0); console.log('end')
