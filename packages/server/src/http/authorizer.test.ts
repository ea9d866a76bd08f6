import { describe, expect, test } from 'vitest'
import { type Authorizer, type Caller, type Right, socketAuthorizer, TokenAuthorizer } from './authorizer.ts'
import type { BadRequest } from './http-answer.ts'

const LOCAL: Caller = { authorization: undefined, host: '127.0.0.1:8080', origin: undefined, peer: '127.0.0.1' }
const NO_TOKENS = { adminToken: '', checkToken: '', hosts: '' }
const RIGHTS: readonly Right[] = ['page', 'decide', 'check', 'admin']

/** 200, or the status that keeps it out. */
function status(authorizer: Authorizer, right: Right, caller: Partial<Caller>): number {
  try {
    authorizer.pass(right, { ...LOCAL, ...caller })
    return 200
  } catch (error) {
    return (error as BadRequest).status
  }
}

describe('without tokens', () => {
  const authorizer = new TokenAuthorizer({ ...NO_TOKENS, hosts: 'Sluice.example,limits.internal' })

  test.each<[what: string, caller: Partial<Caller>]>([
    ['from 127.0.0.1', {}],
    ['from ::1', { peer: '::1', host: '[::1]:8080' }],
    ['over a socket for both', { peer: '::ffff:127.0.0.1', host: 'localhost:8080' }],
    ['by another port', { host: 'localhost' }],
    ['by an address that is not of loopback', { host: '192.0.2.7:8080' }],
    ['by an address of the other kind', { host: '[2001:db8::7]' }],
    ['in another spelling', { host: 'LocalHost:8080' }],
    ['by a name that was set', { host: 'sluice.example' }],
    ['by another name that was set', { host: 'LIMITS.internal:80' }],
    ['by no name', { host: undefined }],
    ['from a page of the service itself', { origin: 'http://127.0.0.1:8080' }],
    ['from such a page behind a proxy with TLS', { host: 'sluice.example', origin: 'https://Sluice.example' }],
    [
      'from another machine, by any name',
      { peer: '192.0.2.7', host: 'sluice.default.svc', origin: 'https://a.example' },
    ],
    ['from another machine over IPv6', { peer: '2001:db8::7', host: 'sluice.default.svc' }],
  ])('a caller %s may check, but may not make operator calls', (_, caller) => {
    expect(RIGHTS.map(right => status(authorizer, right, caller))).toEqual([200, 200, 200, 403])
  })

  test.each<[what: string, caller: Partial<Caller>]>([
    ['by a name that leads here', { host: 'rebound.example:8080' }],
    ['by a name that starts like an address', { host: '127.0.0.1.example' }],
    ['by a name that ends like one', { host: 'example.127.0.0.1' }],
    ['by a name below one that was set', { host: 'a.sluice.example' }],
    ['by a name with a dot at its end', { host: 'localhost.' }],
    ['by an address in an old spelling', { host: '127.1' }],
    ['by an address as one number', { host: '2130706433' }],
    ['by an empty name', { host: '' }],
    ['by brackets around a name', { host: '[rebound.example]' }],
    ['by two ports', { host: 'localhost:80:80' }],
    ['by a name before an @', { host: 'rebound.example@localhost' }],
    ['from a page of somebody else', { origin: 'https://evil.example' }],
    ['from a page at another port', { origin: 'http://127.0.0.1:3000' }],
    ['from a page of nobody', { origin: 'null' }],
    ['from a page of two', { origin: 'http://127.0.0.1:8080, https://evil.example' }],
    ['from a page of an extension', { origin: 'chrome-extension://127.0.0.1:8080' }],
    ['from a page, by no name', { host: undefined, origin: 'http://127.0.0.1:8080' }],
    ['from a page of the name that leads here', { host: 'rebound.example', origin: 'http://rebound.example' }],
  ])('a caller %s may use the decision endpoint, and nothing else', (_, caller) => {
    expect(RIGHTS.map(right => status(authorizer, right, caller))).toEqual([403, 200, 403, 403])
  })
})

describe('with tokens', () => {
  const bearer = (token: string): Partial<Caller> => ({ peer: '192.0.2.7', authorization: `Bearer ${token}` })
  const foreign = { host: 'rebound.example', origin: 'https://evil.example' }
  const both = new TokenAuthorizer({ ...NO_TOKENS, adminToken: 'admin', checkToken: 'check' })
  const adminOnly = new TokenAuthorizer({ ...NO_TOKENS, adminToken: 'admin' })
  const checkOnly = new TokenAuthorizer({ ...NO_TOKENS, checkToken: 'check' })

  test.each<[what: string, authorizer: Authorizer, caller: Partial<Caller>, statuses: number[]]>([
    ['both are set, none is brought', both, {}, [200, 401, 401, 401]],
    ['both are set, another is brought', both, bearer('other'), [200, 401, 401, 401]],
    ['both are set, the check token is brought', both, bearer('check'), [200, 200, 200, 401]],
    ['both are set, the admin token is brought', both, bearer('admin'), [200, 200, 200, 200]],
    ['both are set, one is brought by another name', both, { ...foreign, ...bearer('check') }, [200, 200, 200, 401]],
    ['the admin token is set, none is brought', adminOnly, {}, [200, 200, 200, 401]],
    ['the admin token is set, none is brought by a foreign page', adminOnly, foreign, [403, 200, 403, 401]],
    ['the admin token is set, another is brought', adminOnly, bearer('check'), [200, 200, 200, 401]],
    ['the admin token is set and brought', adminOnly, bearer('admin'), [200, 200, 200, 200]],
    ['it is brought by another name', adminOnly, { ...bearer('admin'), ...foreign, peer: '::1' }, [200, 200, 200, 200]],
    ['the check token is set, none is brought', checkOnly, {}, [200, 401, 401, 403]],
    ['the check token is set and brought', checkOnly, bearer('check'), [200, 200, 200, 403]],
  ])('where %s', (_, authorizer, caller, statuses) => {
    expect(RIGHTS.map(right => status(authorizer, right, caller))).toEqual(statuses)
  })
})

test('over the admin socket everything is allowed', () => {
  const caller = { peer: undefined, host: 'localhost', origin: undefined }
  expect(RIGHTS.map(right => status(socketAuthorizer, right, caller))).toEqual([200, 200, 200, 200])
})
