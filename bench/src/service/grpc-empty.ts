// grpc-js with a handler that only answers: node grpc-empty.js <protos|bytes>. Reports its port.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { endWithParent } from '../child.ts'

endWithParent()
const [kind] = process.argv.slice(2)
const server = new Server()
if (kind === 'protos') {
  const answer = { overallCode: 1, statuses: [{ code: 1, limitRemaining: 99 }] }
  server.addService(withProtos(), { ShouldRateLimit: (_: unknown, reply: Reply) => reply(null, answer) })
} else {
  const answer = Buffer.from('080112040801' + '1863', 'hex')
  server.addService(withBytes(), { ShouldRateLimit: (_: unknown, reply: Reply) => reply(null, answer) })
}
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error
  process.send?.(port)
})

type Reply = (error: null, answer: object) => void

/** The handler as users of grpc-js write it: messages are objects by Envoy's own protos. */
function withProtos(): ServiceDefinition {
  const xds = dirname(createRequire(import.meta.url).resolve('@grpc/grpc-js-xds/package.json'))
  const includeDirs = ['envoy-api', 'googleapis', 'protoc-gen-validate', 'xds'].map(dir => join(xds, 'deps', dir))
  const loaded = loadSync('envoy/service/ratelimit/v3/rls.proto', { includeDirs })
  return loaded['envoy.service.ratelimit.v3.RateLimitService'] as ServiceDefinition
}

/** The cheapest handler possible: it does not read the request, and its answer is constant. */
function withBytes(): ServiceDefinition {
  const asItIs = (bytes: Buffer) => bytes
  return {
    ShouldRateLimit: {
      path: '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
      ...{ requestStream: false, responseStream: false, requestSerialize: asItIs, requestDeserialize: asItIs },
      ...{ responseSerialize: asItIs, responseDeserialize: asItIs },
    },
  }
}
