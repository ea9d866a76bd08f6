import { describe, expect, test } from 'vitest'
import { ask, type FakeRequest, serve, statusOf } from '../../fixtures/http/fake-exchange.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type Guard, loginLimits } from '../index.ts'

const OFFICE = '203.0.113.10'

/** Somebody tries a name from an address. */
const at = (from: string, name: string): FakeRequest => ({ from, method: 'POST', body: { username: name } })
const home = (n: number) => `198.18.${n >> 8}.${n & 255}`

describe('an attack of 50,000 attempts in a minute from 2,000 addresses', () => {
  const ADDRESSES = 2000
  const EMPLOYEES = 500
  const CAP = 1000
  const UNDER_WAY = 20

  /** Replays it, each response some attempts late, with every employee logging in on the way. */
  function replay(attempts: number, prepare: (guard: Guard) => void) {
    const clock = fakeClock(1_000_000_000)
    const guard = createGuard({ limits: loginLimits(), clock })
    prepare(guard)
    const flying: (() => void)[] = []
    const refused = new Set<number>()
    let guesses = 0
    let loggedIn = 0
    for (let n = 0; n < attempts; n++) {
      // Names of employees among many others, and no two in a row from one address.
      const outcome = ask(guard, at(home((n * 7) % ADDRESSES), n % 3 === 0 ? `employee ${n % EMPLOYEES}` : `user ${n}`))
      if (outcome?.refusal === undefined) {
        guesses++
        flying.push(() => outcome!.ended!(401, 0, false))
      } else refused.add(statusOf(outcome))
      if (n % UNDER_WAY === 0) for (const end of flying.splice(0)) end()
      if (n % (attempts / EMPLOYEES) === 7) {
        const who = at(OFFICE, `employee ${(n - 7) / (attempts / EMPLOYEES)}`)
        if (serve(guard, who, 200) === 200) loggedIn++
      }
      clock.advance(60_000 / 50_000)
    }
    return { guesses, loggedIn, refused: [...refused].sort() }
  }

  test('makes no more guesses than the cap, while 500 employees behind one address log in', () => {
    const result = replay(50_000, guard => serve(guard, at(OFFICE, 'employee 17'), 200))
    expect(result).toEqual({ guesses: CAP, loggedIn: EMPLOYEES, refused: [503] })
  }, 30_000)

  test('makes at most as many again if the attacker has logged in from everywhere before', () => {
    const { guesses } = replay(10_000, guard => {
      for (let n = 0; n < ADDRESSES; n += 2) serve(guard, at(home(n), 'mallory'), 200)
    })
    expect(guesses).toBe(2 * CAP)
  })
})
