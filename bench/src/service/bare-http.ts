// A node:http server that reads a request and answers a body as long as a decision: node bare-http.js. Reports its
// port.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endWithParent } from '../child.ts'
import { ANSWER } from './http-exchange.ts'

endWithParent()
const server = createServer((request, response) => {
  request.on('data', () => {})
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': ANSWER.length })
    response.end(ANSWER)
  })
})
// Connections are kept while others have their turn.
server.keepAliveTimeout = 300_000
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
