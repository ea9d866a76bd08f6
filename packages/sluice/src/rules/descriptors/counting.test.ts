import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asking, descriptor, now, perMinute } from '../../fixtures/descriptors/asking.ts'
import { memoryStore } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { rls } from './rls.ts'

// More rules than lanes, so that many share one and some meet in a request.
const NAMED = 100
const limits = Object.fromEntries(Array.from({ length: NAMED }, (_, i) => [`k=${i}`, 1 + (i % 4)]))
const rules: Record<string, number> = { ...limits, user: 3, 'user route': 2, 'user route=x': 1 }

/** Which rule a descriptor is under, and who is counted together. */
function ruleOf(text: string): string {
  if (text.startsWith('k=')) return text
  if (text.endsWith(' route=x')) return 'user route=x'
  return text.includes(' ') ? 'user route' : 'user'
}

const text = fc.oneof(
  fc.nat(NAMED - 1).map(i => `k=${i}`),
  fc.constantFrom('user=a', 'user=b', 'user=c', 'user=a route=x', 'user=b route=x', 'user=a route=y'),
)
const asked = fc.record({ text, hitsAddend: fc.nat(3) })
const step = fc.record({
  gapMs: fc.constantFrom(0, 0, 0, 7000, 40_000),
  all: fc.array(asked, { minLength: 1, maxLength: 8 }),
})

test('on any trace a request is charged for all its descriptors or for none, as plain counting says', {
  timeout: 60_000,
}, () => {
  const trace = fc.array(step, { maxLength: 40 })
  fc.assert(
    fc.property(trace, steps => {
      const clock = fakeClock(1_700_000_000_000)
      const service = rls([perMinute(rules)], { clock, onEvent: () => {} })
      let minute = -1
      let used = new Map<string, number>()
      for (const { gapMs, all } of steps) {
        clock.advance(gapMs)
        if (Math.floor(clock.now() / 60_000) !== minute) used = new Map()
        minute = Math.floor(clock.now() / 60_000)

        const costs = new Map<string, number>()
        for (const { text, hitsAddend } of all) costs.set(text, (costs.get(text) ?? 0) + hitsAddend)
        const roomOf = (text: string) => rules[ruleOf(text)]! - (used.get(text) ?? 0)
        const refused = [...costs].filter(([text, cost]) => cost > roomOf(text)).map(([text]) => text)
        if (refused.length === 0) for (const [text, cost] of costs) used.set(text, (used.get(text) ?? 0) + cost)

        const request = asking(...all.map(({ text, hitsAddend }) => descriptor(text, { hitsAddend })))
        const { overall, statuses } = now(service.shouldRateLimit(request))
        expect(overall).toBe(refused.length === 0 ? 'OK' : 'OVER_LIMIT')
        expect(statuses.map(({ code, limitRemaining }) => [code, limitRemaining])).toEqual(
          all.map(({ text }) => [refused.includes(text) ? 'OVER_LIMIT' : 'OK', roomOf(text)]),
        )
      }
    }),
    { numRuns: 60 },
  )
})

test('ten thousand rules are no more limits to look at than a few hundred', () => {
  const limitsOf = (count: number) => {
    const store = memoryStore()
    const paths = new Set<string>()
    const counted: typeof store = Object.assign(Object.create(store), {
      bind(path: string) {
        paths.add(path)
        return store.bind(path)
      },
    })
    const descriptors = Array.from({ length: count }, (_, i) => ({
      key: `k${i}`,
      value: `${i}`,
      rate_limit: { unit: 'minute', requests_per_unit: 1 + i },
    }))
    const { shouldRateLimit } = rls([{ domain: 'edge', descriptors }], { store: counted })
    expect(now(shouldRateLimit(asking('k7=7'))).statuses).toMatchObject([{ limitRemaining: 7 }])
    return paths.size
  }
  expect(limitsOf(10_000)).toBe(limitsOf(1000))
  expect(limitsOf(10_000)).toBeLessThan(80)
})
