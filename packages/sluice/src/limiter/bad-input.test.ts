import { describe, expect, test } from 'vitest'
import { type Any, codeOf } from '../fixtures/limiter/misuse.ts'
import { createLimiter, fixedWindow, type LimitOptions, memoryStore, slidingLog } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const policy = fixedWindow({ limit: 10, window: '1m' })
const make = (...args: Any[]) => (createLimiter as Any)(...args)
const one = (limit: Any) => make({ limits: { one: limit } })
const block = (blockFor: Any) => one({ policy, blockFor })

const constructions: [what: string, call: () => unknown, code: string][] = [
  ['no policy', () => make(), 'SLUICE_BAD_POLICY'],
  ['null for a policy', () => make(null), 'SLUICE_BAD_POLICY'],
  ['options for a policy', () => make({ capacity: 100 }), 'SLUICE_BAD_POLICY'],
  ['a policy of no known kind', () => make({ kind: 'magic' }), 'SLUICE_BAD_POLICY'],
  ['a number for a policy', () => make(100), 'SLUICE_BAD_POLICY'],
  ['a text that is no rate', () => make('fast'), 'SLUICE_BAD_RATE'],
  ['a policy whose JSON lost its window', () => make({ kind: 'slidingLog', limit: 5 }), 'SLUICE_BAD_WINDOW'],
  ['a policy whose JSON lost its limit', () => make({ kind: 'slidingLog', windowMs: 5 }), 'SLUICE_BAD_LIMIT'],
  ['an unknown option', () => make(policy, { onDecison() {} }), 'SLUICE_BAD_OPTION'],
  ['limits beside a policy', () => make(policy, { limits: { a: { policy } } }), 'SLUICE_BAD_OPTION'],
  ['options beside limits', () => make({ limits: { a: { policy } } }, { name: 'x' }), 'SLUICE_BAD_OPTION'],
  ['a name that is no text', () => make(policy, { name: 5 }), 'SLUICE_BAD_OPTION'],
  ['a prefix that is no text', () => make(policy, { prefix: null }), 'SLUICE_BAD_OPTION'],
  ['an onDecision that is no function', () => make(policy, { onDecision: 'log' }), 'SLUICE_BAD_OPTION'],
  ['an onEvent that is no function', () => make(policy, { onEvent: {} }), 'SLUICE_BAD_OPTION'],
  ['a store that is none', () => make(policy, { store: new Map() }), 'SLUICE_BAD_OPTION'],
  ['null for a store', () => make(policy, { store: null }), 'SLUICE_BAD_OPTION'],
  ['a clock without now', () => make(policy, { clock: {} }), 'SLUICE_BAD_CLOCK'],
  ['null for a clock', () => make(policy, { clock: null }), 'SLUICE_BAD_CLOCK'],
  ['a function for a clock', () => make(policy, { clock: () => 0 }), 'SLUICE_BAD_CLOCK'],
  ['no limits', () => make({ limits: {} }), 'SLUICE_BAD_OPTION'],
  ['null for limits', () => make({ limits: null }), 'SLUICE_BAD_OPTION'],
  ['a list of limits', () => make({ limits: [{ policy }] }), 'SLUICE_BAD_OPTION'],
  ['a limit that is undefined', () => one(undefined), 'SLUICE_BAD_OPTION'],
  ['a bare policy for a limit', () => one(policy), 'SLUICE_BAD_OPTION'],
  ['a rate for a limit', () => one('5/m'), 'SLUICE_BAD_OPTION'],
  ['a limit without policy', () => one({}), 'SLUICE_BAD_POLICY'],
  ['an unknown option of a limit', () => one({ policy, costs: 5 }), 'SLUICE_BAD_OPTION'],
  ['a key that is no function', () => one({ policy, key: 'ip' }), 'SLUICE_BAD_OPTION'],
  ["a limit's cost that is none", () => one({ policy, cost: 0.5 }), 'SLUICE_BAD_COST'],
  ['an onOutage that is none', () => one({ policy, onOutage: 'fail' }), 'SLUICE_BAD_OPTION'],
  ['null for onOutage', () => one({ policy, onOutage: null }), 'SLUICE_BAD_OPTION'],
  ['an onOutage that is none, beside a policy', () => make(policy, { onOutage: true }), 'SLUICE_BAD_OPTION'],
  ['onOutage beside limits', () => make({ limits: { a: { policy } }, onOutage: 'open' }), 'SLUICE_BAD_OPTION'],
  ['a mode that is none', () => one({ policy, mode: 'on' }), 'SLUICE_BAD_MODE'],
  ['a limit that replaces itself', () => one({ policy, mode: 'shadow', replaces: 'one' }), 'SLUICE_UNKNOWN_LIMIT'],
  ['one that replaces nobody', () => one({ policy, mode: 'shadow', replaces: 'user' }), 'SLUICE_UNKNOWN_LIMIT'],
  ['blockFor 0', () => block(0), 'SLUICE_BAD_BLOCK'],
  ['blockFor that is no duration', () => block('15 minutes'), 'SLUICE_BAD_BLOCK'],
  ['null for blockFor', () => block(null), 'SLUICE_BAD_BLOCK'],
  ['blockFor without first', () => block({ factor: 2 }), 'SLUICE_BAD_BLOCK'],
  ['a factor below 1', () => block({ first: '1m', factor: 0.5 }), 'SLUICE_BAD_BLOCK'],
  ['a factor of NaN', () => block({ first: '1m', factor: Number.NaN }), 'SLUICE_BAD_BLOCK'],
  ['a max below first', () => block({ first: '1m', max: '1s' }), 'SLUICE_BAD_BLOCK'],
  ['an unknown option of blockFor', () => block({ first: '1m', maximum: '5m' }), 'SLUICE_BAD_BLOCK'],
  ['memoryStore: maxKeys 0', () => memoryStore({ maxKeys: 0 }), 'SLUICE_BAD_OPTION'],
  ['memoryStore: maxKeys 1.5', () => memoryStore({ maxKeys: 1.5 }), 'SLUICE_BAD_OPTION'],
  ['memoryStore: maxKeys of text', () => memoryStore({ maxKeys: '100' as Any }), 'SLUICE_BAD_OPTION'],
  ['memoryStore: too many keys', () => memoryStore({ maxKeys: 2 ** 31 }), 'SLUICE_BAD_OPTION'],
  ['memoryStore: a clock without now', () => memoryStore({ clock: {} as Any }), 'SLUICE_BAD_CLOCK'],
  ['memoryStore: null for a clock', () => memoryStore({ clock: null as Any }), 'SLUICE_BAD_CLOCK'],
  ['memoryStore: an unknown option', () => memoryStore({ maxkeys: 100 } as Any), 'SLUICE_BAD_OPTION'],
  ['memoryStore: an onOverflow that is no function', () => memoryStore({ onOverflow: 5 as Any }), 'SLUICE_BAD_OPTION'],
  ['memoryStore: null for options', () => memoryStore(null as Any), 'SLUICE_BAD_OPTION'],
]

test.each(constructions)('%s', (_, call, code) => {
  expect(codeOf(call)).toBe(code)
})

describe('calls', () => {
  const clock = fakeClock()
  const short: Any = createLimiter(policy, { clock })
  const limits: Record<string, LimitOptions<Any>> = {
    user: { policy: s => s.policy ?? policy, key: s => s.key, cost: s => s.cost ?? 1, mode: s => s.mode ?? 'enforce' },
    log: { policy: slidingLog({ limit: 5, window: '1m' }), key: s => s.log },
  }
  const named: Any = createLimiter({ clock, limits })
  const keyless: Any = createLimiter({ clock, limits: { all: { policy } } })

  const table: [what: string, call: () => unknown, code: string][] = [
    ['no subject', () => short.consume(), 'SLUICE_BAD_KEY'],
    ['a number for a subject', () => short.consume(42), 'SLUICE_BAD_KEY'],
    ['null for a subject', () => short.peek(null), 'SLUICE_BAD_KEY'],
    ['an object for a subject', () => short.reset({ user: 'u' }), 'SLUICE_BAD_KEY'],
    ['a list for a subject', () => short.block(['a'], { for: '1m' }), 'SLUICE_BAD_KEY'],
    ['a text where a limit has no key', () => keyless.consume('user:42'), 'SLUICE_BAD_KEY'],
    ['a key that is a number', () => named.consume({ key: 5 }), 'SLUICE_BAD_KEY'],
    ['a key that is null', () => named.consume({ key: null }), 'SLUICE_BAD_KEY'],
    ['a key without parts', () => named.consume({ key: [] }), 'SLUICE_BAD_KEY'],
    ['a key with a part that is no text', () => named.consume({ key: ['a', 5] }), 'SLUICE_BAD_KEY'],
    ['a key with a part missing', () => named.consume({ key: ['a', undefined] }), 'SLUICE_BAD_KEY'],
    ['a chosen policy that is none', () => named.consume({ key: 'a', policy: {} }), 'SLUICE_BAD_POLICY'],
    ['a chosen mode that is none', () => named.consume({ key: 'a', mode: 'maybe' }), 'SLUICE_BAD_MODE'],
    ['a worked-out cost that is none', () => named.consume({ key: 'a', cost: 0.5 }), 'SLUICE_BAD_COST'],
    ['setMode of nobody', () => named.setMode('users', 'off'), 'SLUICE_UNKNOWN_LIMIT'],
    ['setMode to nothing', () => named.setMode('user', 'disabled'), 'SLUICE_BAD_MODE'],
    ['reset of nobody', () => named.reset({ key: 'a' }, { limits: ['users'] }), 'SLUICE_UNKNOWN_LIMIT'],
    ['block by nobody', () => named.block({ key: 'a' }, { limit: 'users', for: '1m' }), 'SLUICE_UNKNOWN_LIMIT'],
    ['block by one of several unnamed', () => named.block({ key: 'a' }, { for: '1m' }), 'SLUICE_UNKNOWN_LIMIT'],
    ['block for no time', () => short.block('a', { for: 0 }), 'SLUICE_BAD_BLOCK'],
    ['block without a time', () => short.block('a', {}), 'SLUICE_BAD_BLOCK'],
    ['block without options', () => short.block('a'), 'SLUICE_BAD_OPTION'],
    ['block with a duration alone', () => short.block('a', '15m'), 'SLUICE_BAD_OPTION'],
    ['consume with a cost alone', () => short.consume('a', 5), 'SLUICE_BAD_OPTION'],
    ['consume with null for options', () => short.consume('a', null), 'SLUICE_BAD_OPTION'],
    ['consume with an option misspelt', () => short.consume('a', { costs: 5 }), 'SLUICE_BAD_OPTION'],
    ['peek with an option misspelt', () => short.peek('a', { costs: 5 }), 'SLUICE_BAD_OPTION'],
    ['refund with an option misspelt', () => short.refund('a', { costs: 5 }), 'SLUICE_BAD_OPTION'],
    ['reset with an option misspelt', () => short.reset('a', { limit: 'default' }), 'SLUICE_BAD_OPTION'],
    ['history with an option misspelt', () => short.history('a', { limits: [] }), 'SLUICE_BAD_OPTION'],
    ['an empty subject', () => short.consume(''), 'SLUICE_BAD_KEY'],
    ['an empty subject of limits with keys', () => named.consume(''), 'SLUICE_BAD_KEY'],
    ['history of one of several unnamed', () => named.history({ key: 'a' }), 'SLUICE_UNKNOWN_LIMIT'],
    ['history of what has none', () => short.history('a'), 'SLUICE_NOT_SUPPORTED'],
    ['history of what has none, by name', () => named.history({ key: 'a' }, { limit: 'user' }), 'SLUICE_NOT_SUPPORTED'],
    ['reserve without options', () => short.reserve('a'), 'SLUICE_BAD_OPTION'],
    ['reserve without cost', () => short.reserve('a', { ttl: '1m' }), 'SLUICE_BAD_COST'],
    ['reserve without ttl', () => short.reserve('a', { cost: 1 }), 'SLUICE_BAD_TTL'],
    ['reserve with a ttl of 0', () => short.reserve('a', { cost: 1, ttl: 0 }), 'SLUICE_BAD_TTL'],
    ['refund of a subject without options', () => short.refund('a'), 'SLUICE_BAD_OPTION'],
    ['refund of a subject without cost', () => short.refund('a', {}), 'SLUICE_BAD_COST'],
    ['settle without a number', () => short.reserve('z', { cost: 1, ttl: '1m' }).settle(), 'SLUICE_BAD_COST'],
  ]

  test.each(table)('%s', (_, call, code) => {
    expect(codeOf(call)).toBe(code)
  })

  test.each<[what: string, call: () => Promise<unknown>, code: string]>([
    ['maxWait below 0', () => short.wait('a', { maxWait: -1 }), 'SLUICE_BAD_DURATION'],
    ['maxWait that is no duration', () => short.wait('a', { maxWait: 'soon' }), 'SLUICE_BAD_DURATION'],
    ['a subject that is no text', () => short.wait(5), 'SLUICE_BAD_KEY'],
    ['an option misspelt', () => short.wait('a', { timeout: '1s' }), 'SLUICE_BAD_OPTION'],
  ])('wait rejects: %s', async (_, call, code) => {
    await expect(call()).rejects.toMatchObject({ code })
  })

  test('none of it touched any state', () => {
    expect(short.peek('a').remaining).toBe(10)
    expect(named.peek({ key: 'a' }).remaining).toBe(10)
    expect(keyless.peek({}).remaining).toBe(10)
  })
})
