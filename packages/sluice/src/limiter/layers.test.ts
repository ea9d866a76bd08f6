import { expect, test } from 'vitest'
import { createLimiter, type Layers, limits, memoryStore, type NamedLimits } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const policy: Layers = ['2/s', '5/m', '8/h']
const byName = (name: string) => name

function layered(clock = fakeClock(1_700_000_000_000)) {
  const all = limits<string>({ user: { policy, key: byName }, other: { policy: '100/m', key: byName } })
  return { clock, limiter: createLimiter({ clock, limits: all }) }
}

test('all layers hold, and a refusal by one takes nothing from the others', () => {
  const { clock, limiter } = layered()
  let passed = 0
  const refusedBy = new Set<string>()
  for (let i = 0; i < 4000; i++) {
    const decision = limiter.consume('a')
    if (decision.allowed) passed++
    else refusedBy.add(decision.policy)
    clock.advance(100)
  }
  // Of 400 s: two in the first second, five in each minute, and eight in the hour.
  expect(passed).toBe(8)
  expect([...refusedBy].sort()).toEqual(['user:2/s', 'user:5/m', 'user:8/h'])
})

test('each layer is shown by its own name, in the order given', () => {
  const { limiter } = layered()
  const { limits: states, policy: binding } = limiter.consume('a')
  expect(states.map(({ name, remaining }) => [name, remaining])).toEqual([
    ['user:2/s', 1],
    ['user:5/m', 4],
    ['user:8/h', 7],
    ['other', 99],
  ])
  expect(binding).toBe('user:2/s')
})

test('the short form takes layers, too, and its subject is their key', () => {
  const limiter = createLimiter(policy, { clock: fakeClock() })
  limiter.consume('a')
  expect(limiter.consume('a').limits.map(({ name }) => name)).toEqual(['default:2/s', 'default:5/m', 'default:8/h'])
  expect(limiter.consume('a').allowed).toBe(false)
  expect(limiter.consume('b').allowed).toBe(true)
  limiter.block('b', { for: '1m' })
  expect(limiter.consume('b').reason).toBe('blocked')
  limiter.unblock('b')
  limiter.reset('a')
  expect(limiter.consume('a').allowed).toBe(true)
  expect(() => limiter.consume(5 as never)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_KEY' }))
  expect(() => limiter.consume('')).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_KEY' }))
})

test('the name of the limit means all of its layers', () => {
  const { limiter } = layered()
  const remaining = () => limiter.peek('a').limits.map(state => state.remaining)
  limiter.consume('a', { cost: 2 })
  expect(limiter.inspect('a', { limits: ['user'] }).map(({ name, used }) => [name, used])).toEqual([
    ['user:2/s', 2],
    ['user:5/m', 2],
    ['user:8/h', 2],
  ])
  limiter.reset('a', { limits: ['user'] })
  expect(remaining()).toEqual([2, 5, 8, 98])

  limiter.block('a', { limit: 'user', for: '1m' })
  expect(limiter.consume('a').limits.map(({ allowed }) => allowed)).toEqual([false, false, false, true])
  limiter.unblock('a', { limit: 'user' })
  expect(limiter.consume('a').allowed).toBe(true)

  limiter.setMode('user', 'shadow')
  expect(limiter.consume('a').limits.map(({ shadow }) => shadow)).toEqual([true, true, true, false])
  limiter.setMode('user', 'off')
  expect(limiter.consume('a').limits.map(({ name }) => name)).toEqual(['other'])
})

test('a layer is also addressed alone, and must be where layers have nothing in common', () => {
  const { limiter } = layered()
  limiter.consume('a', { cost: 2 })
  limiter.reset('a', { limits: ['user:2/s'] })
  limiter.set('a', { limit: 'user:5/m', remaining: 1 })
  expect(limiter.peek('a').limits.map(({ remaining }) => remaining)).toEqual([2, 1, 6, 98])
  expect(limiter.history('a', { limit: 'user:8/h' })).toHaveLength(2)
  const oneLayer = /one layer \('user:2\/s', 'user:5\/m', 'user:8\/h'\)/
  expect(() => limiter.set('a', { limit: 'user', remaining: 1 })).toThrow(oneLayer)
  expect(() => limiter.history('a', { limit: 'user' })).toThrow(oneLayer)
  expect(() => limiter.reset('a', { limits: ['user:3/s'] })).toThrow(
    expect.objectContaining({ code: 'SLUICE_UNKNOWN_LIMIT' }),
  )
})

test('what was used is settled, penalized and refunded in every layer', () => {
  const { limiter } = layered()
  const remaining = () => limiter.peek('a', { cost: 0 }).limits.map(state => state.remaining)
  limiter.reserve('a', { cost: 2, ttl: '1m' }).settle({ user: 1 })
  expect(remaining()).toEqual([1, 4, 7, 98])
  limiter.penalize('a', { cost: 1 })
  expect(remaining()).toEqual([0, 3, 6, 97])
  limiter.refund('a', { cost: 2 })
  expect(remaining()).toEqual([2, 5, 8, 99])
})

test('select and bucket know a limit with layers by its name', () => {
  const named: NamedLimits<string, 'sync'> = {
    clock: fakeClock(),
    select: name => (name === 'a' ? ['one'] : ['two']),
    limits: {
      one: { policy, key: () => 'same', bucket: 'shared' },
      two: { policy, key: () => 'same', bucket: 'shared' },
    },
  }
  const limiter = createLimiter(named)
  expect(limiter.consume('a').limits.map(({ name, remaining }) => [name, remaining])).toEqual([
    ['one:2/s', 1],
    ['one:5/m', 4],
    ['one:8/h', 7],
  ])
  expect(limiter.consume('b').limits.map(({ remaining }) => remaining)).toEqual([0, 3, 6])
})

test('layers share key, cost, mode and whatever else the limit says', () => {
  const user = { policy, key: byName, cost: 2, mode: 'shadow', blockFor: '1m' } as const
  const limiter = createLimiter({ clock: fakeClock(), limits: { user } })
  const { limits: states } = limiter.consume('a')
  expect(states.map(({ remaining, shadow }) => [remaining, shadow])).toEqual([
    [0, true],
    [3, true],
    [6, true],
  ])
})

test.each([
  ['no layer', { user: { policy: [] } }, 'SLUICE_BAD_POLICY', /at least one layer/],
  ['the same rate twice', { user: { policy: ['2/s', '2/1s'] } }, 'SLUICE_BAD_POLICY', /one layer for each span/],
  ['two rates over one span', { user: { policy: ['2/s', '5/s'] } }, 'SLUICE_BAD_POLICY', /got '5\/s'/],
  ['a layer that is no rate', { user: { policy: ['2/s', {}] } }, 'SLUICE_BAD_POLICY', /rates such as '100\/m'/],
  ['a layer misspelt', { user: { policy: ['2/s', '5/min'] } }, 'SLUICE_BAD_RATE', /write '5\/m'/],
  ['a name that a layer has', { 'user:2/s': { policy: '1/s' }, user: { policy } }, 'SLUICE_BAD_OPTION', /'user:2\/s'/],
  ['layers that replace', { a: { policy: '1/s' }, user: { policy, replaces: 'a' } }, 'SLUICE_NOT_SUPPORTED', /layers/],
  [
    'layers replaced',
    { a: { policy: '1/s', replaces: 'user' }, user: { policy } },
    'SLUICE_NOT_SUPPORTED',
    /one layer/,
  ],
] as const)('%s is refused', (_, bad, code, message) => {
  const make = () => createLimiter({ limits: bad as never })
  expect(make).toThrow(expect.objectContaining({ code }))
  expect(make).toThrow(message)
})

test('what a layer has counted stays when its number changes', () => {
  const store = memoryStore({ clock: fakeClock() })
  const before = createLimiter({ store, limits: { user: { policy: ['20/m', '200/h'], key: byName } } })
  before.consume('a', { cost: 10 })
  before.close()
  const after = createLimiter({ store, limits: { user: { policy: ['15/m', '300/h'], key: byName } } })
  expect(after.peek('a').limits.map(({ remaining }) => remaining)).toEqual([5, 290])
})
