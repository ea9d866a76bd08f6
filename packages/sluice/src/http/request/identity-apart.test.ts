import { describe, expect, test } from 'vitest'
import { type FakeRequest, factsOf } from '../../fixtures/http/fake-exchange.ts'
import { all, apiKey, header, type Identity, ip, route, session, tenant, user, userAgent, username } from '../index.ts'

const HOME = '192.0.2.1'
const yes = () => true

function keyOf(identity: Identity, request: FakeRequest = {}): string {
  return identity.keyOf(factsOf({ from: HOME, ...request }))
}

describe('a name as people type it', () => {
  const typed = (name: string) => keyOf(username(), { body: { username: name } })

  test.each([
    ['case', 'ann', 'ANN'],
    ['space around it', 'ann', '  ann\n'],
    ['width', 'ann', '\uff41\uff4e\uff4e'],
    ['composition', 'zo\u00eb', 'zoe\u0308'],
    ['ligatures', 'fink', '\ufb01nk'],
    ['a letter without an upper case', 'stra\u00dfe', 'STRASSE'],
    ['a letter with two lower cases', '\u03bf\u03b4\u03cc\u03c2', '\u039f\u0394\u038c\u03a3'],
    ['the same in the middle of a word', '\u03c3\u03c3', '\u03c3\u03c2'],
    ['a letter whose lower case is two', '\u0130stanbul', 'i\u0307stanbul'],
    ['mathematical letters', 'ann', '\ud835\udc1a\ud835\udc27\ud835\udc27'],
  ])('%s makes no other one', (_name, one, other) => {
    expect(typed(other)).toBe(typed(one))
  })

  test.each([
    ['ann', 'anna'],
    ['ann', 'an n'],
    ['zoe', 'zo\u00eb'],
  ])('%j is not %j', (one, other) => {
    expect(typed(one)).not.toBe(typed(other))
  })
})

describe('no two who are not the same share a key', () => {
  test('a user named like an address is not that address, nor is anything else', () => {
    const named = { user: { id: HOME }, tenant: { id: HOME }, body: { username: HOME }, route: HOME }
    const request = { ...named, session: { id: HOME }, headers: { 'user-agent': HOME, 'x-a': HOME, cookie: HOME } }
    const helpers = [
      user(),
      tenant(),
      session(),
      username(),
      route(),
      userAgent(),
      header('x-a', { verify: yes }),
      ip(),
    ]
    const keys = [...helpers, apiKey({ header: 'x-a', verify: yes }), all(ip())].map(helper => keyOf(helper, request))
    expect(new Set(keys).size).toBe(10)
  })

  test.each<[Identity, FakeRequest, FakeRequest]>([
    [
      all(user(), tenant()),
      { user: { id: 'a' }, tenant: { id: 'b' } },
      { user: { id: 'a8:tenant:b' }, tenant: { id: '' } },
    ],
    [all(user(), tenant()), { user: { id: 'ab' }, tenant: { id: 'c' } }, { user: { id: 'a' }, tenant: { id: 'bc' } }],
    [all(user(), user()), { user: { id: '6:user:x' } }, { user: { id: 'x' } }],
  ])('the parts of all() cannot run together', (identity, one, other) => {
    expect(keyOf(identity, one)).not.toBe(keyOf(identity, other))
  })

  test('a part that is missing in all() is the address, and the others still count', () => {
    const both = all(user(), route())
    const at = (route: string, from: string) => keyOf(both, { route, from })
    expect(at('/a', HOME)).not.toBe(at('/b', HOME))
    expect(at('/a', HOME)).not.toBe(at('/a', '192.0.2.2'))
    expect(at('/a', HOME)).toBe(keyOf(all(ip(), route()), { route: '/a' }))
  })

  test('giant values are kept as hashes, and stay apart', () => {
    const giant = 'x'.repeat(1_000_000)
    for (const [helper, request] of [
      [user(), (id: string) => ({ user: { id } })],
      [userAgent(), (agent: string) => ({ headers: { 'user-agent': agent } })],
      [header('x-a', { verify: yes }), (value: string) => ({ headers: { 'x-a': value } })],
    ] as const) {
      const keys = [giant, `${giant}y`].map(value => keyOf(helper, request(value)))
      expect(keys[0]!.length).toBeLessThan(64)
      expect(keys[0]).not.toBe(keys[1])
    }
  })

  test('a hash is not the value that looks like it', () => {
    const long = keyOf(user(), { user: { id: 'x'.repeat(300) } })
    expect(keyOf(user(), { user: { id: long.slice('user#'.length) } })).not.toBe(long)
  })

  test('a name is read to its end, and kept short', () => {
    const typed = (length: number, end: string) => {
      return keyOf(username(), { body: { username: 'x'.repeat(length) + end } })
    }
    expect(typed(300, 'a')).not.toBe(typed(300, 'b'))
    expect(typed(1_000_000, 'a')).not.toBe(typed(1_000_000, 'b'))
    expect(typed(1_000_000, 'a').length).toBeLessThan(64)
    expect(keyOf(username(), { body: { username: '\ufdfa'.repeat(1000) } }).length).toBeLessThan(64)
  })
})
