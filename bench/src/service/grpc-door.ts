// The service's gRPC server with one constant answer: node grpc-door.js. Reports its port.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { endWithParent } from '../child.ts'

/** The part of its type that is used here, because the server's package does not export it. */
interface Door {
  startGrpc(options: { port: number; service: { shouldRateLimit(): object } }): Promise<{ readonly port: number }>
}

endWithParent()
const path = createRequire(import.meta.url).resolve('sluice-server/dist/rls/grpc/grpc-server.js')
const { startGrpc }: Door = await import(pathToFileURL(path).href)
const answer = { overall: 1, statuses: [{ code: 1, limitRemaining: 99 }] }
const { port } = await startGrpc({ port: 0, service: { shouldRateLimit: () => answer } })
process.send?.(port)
