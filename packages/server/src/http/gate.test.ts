import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { BadRequest } from './exchange.ts'
import { Gate } from './gate.ts'
import type { Right } from './route.ts'

interface From {
  readonly headers?: IncomingHttpHeaders
  readonly peer?: string | undefined
  readonly httpVersion?: string
}

/** What of a request a gate looks at. */
function request(from: From): IncomingMessage {
  const { headers = {}, httpVersion = '1.1' } = from
  const socket = { remoteAddress: 'peer' in from ? from.peer : '127.0.0.1' }
  return { headers: { host: '127.0.0.1:8080', ...headers }, socket, httpVersion } as unknown as IncomingMessage
}

/** 200, or the status that keeps it out. */
function status(gate: Gate, right: Right, from: From): number {
  try {
    gate.pass(right, request(from))
    return 200
  } catch (error) {
    return (error as BadRequest).status
  }
}

describe('without an admin token, operators', () => {
  const gate = new Gate({ adminToken: '', checkToken: '' })

  test.each<[what: string, from: From]>([
    ['from 127.0.0.1', {}],
    ['from ::1', { peer: '::1', headers: { host: '[::1]:8080' } }],
    ['from 127.0.0.1 over a socket for both', { peer: '::ffff:127.0.0.1', headers: { host: 'localhost:8080' } }],
    ['from a page of the service itself', { headers: { origin: 'http://127.0.0.1:8080' } }],
    ['of a machine with another port', { headers: { host: 'localhost' } }],
  ])('may call %s', (_, from) => {
    expect(status(gate, 'admin', from)).toBe(200)
  })

  test.each<[what: string, from: From]>([
    ['from another machine', { peer: '192.0.2.7' }],
    ['from another machine over IPv6', { peer: '2001:db8::7' }],
    ['from another machine over a socket for both', { peer: '::ffff:192.0.2.7' }],
    ['from nowhere', { peer: undefined }],
    ['by a name that leads here', { headers: { host: 'rebound.example:8080' } }],
    ['by a name that starts like an address of here', { headers: { host: '127.0.0.1.example' } }],
    ['by no name', { headers: { host: undefined } }],
    ['from a page of somebody else', { headers: { origin: 'https://evil.example' } }],
    ['from a page at another port', { headers: { origin: 'http://127.0.0.1:3000' } }],
    ['from a page of nobody', { headers: { origin: 'null' } }],
    ['through nginx as it comes', { httpVersion: '1.0' }],
    ...[
      ...['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'cf-connecting-ip', 'true-client-ip', 'x-original-uri'],
      ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-uri'],
    ].map((name): [string, From] => [`through a proxy that says ${name}`, { headers: { [name]: '127.0.0.1' } }]),
  ])('may not call %s', (_, from) => {
    expect(status(gate, 'admin', from)).toBe(403)
    expect(status(gate, 'check', from)).toBe(200)
  })
})

describe('with tokens', () => {
  const bearer = (token: string): From => ({ peer: '192.0.2.7', headers: { authorization: `Bearer ${token}` } })
  const both = new Gate({ adminToken: 'admin', checkToken: 'check' })
  const adminOnly = new Gate({ adminToken: 'admin', checkToken: '' })
  const checkOnly = new Gate({ adminToken: '', checkToken: 'check' })

  test.each<[what: string, gate: Gate, from: From, check: number, admin: number]>([
    ['both are set, none is brought', both, {}, 401, 401],
    ['both are set, another is brought', both, bearer('other'), 401, 401],
    ['both are set, the check token is brought', both, bearer('check'), 200, 401],
    ['both are set, the admin token is brought', both, bearer('admin'), 200, 200],
    ['the admin token is set, none is brought', adminOnly, {}, 200, 401],
    ['the admin token is set, another is brought', adminOnly, bearer('check'), 200, 401],
    ['the admin token is set and brought', adminOnly, bearer('admin'), 200, 200],
    ['the check token is set, none is brought', checkOnly, {}, 401, 200],
    ['the check token is set and brought from afar', checkOnly, bearer('check'), 200, 403],
  ])('where %s', (_, gate, from, check, admin) => {
    expect([status(gate, 'check', from), status(gate, 'admin', from)]).toEqual([check, admin])
  })
})
