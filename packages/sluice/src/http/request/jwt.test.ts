import { expect, test } from 'vitest'
import { type FakeRequest, type FakeView, factsOf } from '../../fixtures/http/fake-exchange.ts'
import { type Any, codeOf } from '../../fixtures/limiter/misuse.ts'
import { createGuard, type Identity, jwt } from '../index.ts'

const HOME = '192.0.2.1'
const forged = `Bearer ${btoa('{"alg":"none"}')}.${btoa('{"sub":"ann"}')}.`

function keyOf(identity: Identity<FakeView>, request: FakeRequest): string {
  return identity.keyOf(factsOf({ from: HOME, ...request }))
}

test.each<[string, Identity<FakeView>, FakeRequest, string]>([
  ['auth, as express-jwt leaves it', jwt('sub'), { auth: { sub: 'ann' } }, 'jwt sub:ann'],
  ['auth.payload, as express-oauth2-jwt-bearer does', jwt('sub'), { auth: { payload: { sub: 'ann' } } }, 'jwt sub:ann'],
  ['user, as @fastify/jwt does', jwt('sub'), { user: { sub: 'ann' } }, 'jwt sub:ann'],
  ['where its own function looks', jwt('sub', r => r.token), { token: { sub: 7 }, user: { sub: 'x' } }, 'jwt sub:7'],
  [
    'a claim with a name of its own',
    jwt('https://a.example/tenant'),
    { auth: { 'https://a.example/tenant': 't' } },
    'jwt https://a.example/tenant:t',
  ],
  ['no token', jwt('sub'), {}, HOME],
  ['a token that nobody has verified', jwt('sub'), { headers: { authorization: forged } }, HOME],
  ['a token without the claim', jwt('sub'), { auth: { iss: 'x' } }, HOME],
  ['what every object has', jwt('toString'), { auth: {} }, HOME],
  ['a claim that is no text', jwt('aud'), { auth: { aud: ['a', 'b'] } }, 'jwt aud?'],
])('%s', (_, identity, request, key) => {
  expect(keyOf(identity, request)).toBe(key)
})

test('a function that answers later is refused when it does', () => {
  expect(() =>
    keyOf(
      jwt('sub', r => Promise.resolve(r)),
      {},
    ),
  ).toThrow('to find its value at once')
})

test('an operator writes the key as it is', () => {
  const guard = createGuard({ policy: '5/m', key: jwt('sub') })
  guard.block({ limit: 'default', key: 'jwt sub:ann', for: '1m' })
  expect(guard.peek({ limit: 'default', key: 'jwt sub:ann' })).toMatchObject({ allowed: false })
})

test.each<[string, () => unknown]>([
  ['no claim', () => (jwt as Any)()],
  ['an empty claim', () => jwt('')],
  ['no function', () => jwt('sub', 'token' as Any)],
  ['an async function', () => jwt('sub', async () => ({}))],
])('%s is refused', (_, make) => {
  expect(codeOf(make)).toBe('SLUICE_BAD_OPTION')
})
