import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rulesLimiter } from 'sluice/rules'
import { type FakeClock, fakeClock, type Rng, random } from 'sluice/testing'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { serving } from './fixtures/proxies/serving.ts'
import { checkDoor, type Door, decideDoor, respDoor, rlsDoor, type Step } from './fixtures/trace-doors.ts'

const STEPS = 10_000
/** Subjects that share no limit: what is asked of them at once may arrive in any order. */
const WORLDS = 50
const START_MS = 1_800_014_400_000
const SLOW_MS = 60_000

const pathOf = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))
const pick = <T>(rng: Rng, from: readonly T[]): T => from[Math.floor(rng() * from.length)]!

/** For each world one step, in which a few clients and users ask for a few routes. */
function round(rng: Rng): Step[] {
  return Array.from({ length: WORLDS }, (_, world) => ({
    ip: `10.0.${world}.${pick(rng, [1, 1, 1, 2])}`,
    user: `${world}-${pick(rng, ['alice', 'alice', 'bob'])}`,
    route: pick(rng, ['/search', '/export', '/upload', '/']),
    cost: pick(rng, [1, 1, 1, 1, 2, 3, 5, 9, 13]),
  }))
}

/** Runs a trace through the library and through doors, which must agree with it. Answers which limits refused how often. */
async function replay(
  rules: string,
  clock: FakeClock,
  doors: readonly Door[],
  pausesMs: readonly number[],
): Promise<Map<string, number>> {
  const { limiter } = rulesLimiter(parse(rules), { clock })
  const rng = random(5)
  const refusals = new Map<string, number>()
  for (let i = 0; i < STEPS / WORLDS; i++) {
    const steps = round(rng)
    const decisions = steps.map(({ cost, ...subject }) => limiter.consume(subject, { cost }).toJSON())
    const answers = await Promise.all(doors.map(door => door.ask(steps)))
    for (const [n, { expected }] of doors.entries()) {
      expect(answers[n]).toEqual(steps.map((step, world) => expected(step, decisions[world]!)))
    }
    for (const { allowed, policy } of decisions) if (!allowed) refusals.set(policy, (refusals.get(policy) ?? 0) + 1)
    clock.advance(pick(rng, pausesMs))
  }
  return refusals
}

test('the library, checks, proxies and Envoy get the same decisions', { timeout: SLOW_MS }, async () => {
  const clock = fakeClock(START_MS)
  const rules = readFileSync(pathOf('trace-rules.yaml'), 'utf8')
  // Two services, since checks and questions of proxies would count in one place.
  const one = await serving(rules, { envoy: pathOf('trace-descriptors.yaml') }, clock)
  const other = await serving(rules, {}, clock)
  const descriptors = ({ route }: Step) => ({
    ...{ 'per-ip': ['ip'], 'per-user': ['user'], minutely: ['minutely'] },
    ...(route !== '/' && { [route.slice(1)]: ['user', 'route'] }),
  })
  const doors = [checkDoor(one.ports), rlsDoor(one.ports, descriptors), decideDoor(other.ports)]
  const refusals = await replay(rules, clock, doors, [0, 0, 0.001, 1, 142.857, 333.333, 500, 1000, 10_000])
  expect([...refusals.keys()].sort()).toEqual(['export', 'minutely', 'per-ip', 'per-user', 'search', 'upload'])
  expect(Math.min(...refusals.values())).toBeGreaterThan(100)
})

test('the library and CL.THROTTLE get the same decisions of GCRA', { timeout: SLOW_MS }, async () => {
  const clock = fakeClock(START_MS)
  const rules = 'limits: { user: { key: user, gcra: { rate: 5/s, burst: 8 } } }'
  const { ports } = await serving(rules, {}, clock)
  const door = respDoor(ports, { burst: 8, count: 5, seconds: 1 })
  const refusals = await replay(rules, clock, [door], [0, 0, 1, 199, 200, 201, 1600])
  expect(refusals.get('user')).toBeGreaterThan(STEPS / 5)
  expect(refusals.get('user')).toBeLessThan((STEPS * 4) / 5)
})
