import { blockCases } from './store-suite/block-cases.ts'
import { bookingCases } from './store-suite/booking-cases.ts'
import type { Case } from './store-suite/case.ts'
import { changeCases } from './store-suite/change-cases.ts'
import { crowdCases } from './store-suite/crowd-cases.ts'
import { envelopeCases } from './store-suite/envelope-cases.ts'
import { inspectionCases } from './store-suite/inspection-cases.ts'
import { keyCases } from './store-suite/key-cases.ts'
import { operatorCases } from './store-suite/operator-cases.ts'
import { oracleCases } from './store-suite/oracle-cases.ts'
import { refundCases } from './store-suite/refund-cases.ts'
import { refusalCases } from './store-suite/refusal-cases.ts'
import { reservationCases } from './store-suite/reservation-cases.ts'
import { roomCases } from './store-suite/room-cases.ts'
import { slotCases } from './store-suite/slot-cases.ts'
import { timeCases } from './store-suite/time-cases.ts'
import { togetherCases } from './store-suite/together-cases.ts'
import { waitCases } from './store-suite/wait-cases.ts'
import { benchOf, type Open } from './store-suite/world.ts'

export interface StoreSuiteOptions {
  /** Cases to skip for this store, by name, each with the reason. */
  skip?: Readonly<Record<string, string>>
  /** How much of the random work to do: 1 by default, less if every call crosses a network. */
  scale?: number
}

/**
 * Cases for any test runner that check what every store must do. A case calls `open`, perhaps several times, for a
 * fresh, empty store that runs by the given clock. With `maxKeys`, the store must keep no more keys than that.
 *
 * Case names give the number of the law that they check:
 *
 * 1. A refused request consumes nothing.
 * 2. A request is charged to all enforced limits or to none.
 * 3. The same cost passes at `retryAt` and not a tick earlier, if no other request consumes meanwhile.
 * 4. No span of time admits more than the policy promises.
 * 5. All stores give the same verdicts.
 * 6. A clock that runs backwards admits nothing extra.
 * 7. Windows from 1 ms to 366 days and rates from one a day to a million a second do not drift.
 * 8. A store forgets a key only if no verdict changes by that, and a full store gives no key a fresh quota.
 * 9. While nothing is consumed, `resetAt` stays the same until it has passed.
 * 11. Keys are data: a store neither alters them nor confuses two of them.
 * 12. A refund counts once, and lets no more through than if the request had not happened.
 */
export function storeSuite(open: Open, { skip = {}, scale = 1 }: StoreSuiteOptions = {}): Case[] {
  const bench = benchOf(open, scale)
  const cases = PARTS.flatMap(casesOf => casesOf(bench))
  const unknown = Object.keys(skip).filter(name => !cases.some(one => one.name === name))
  if (unknown.length > 0) throw new Error(`no case of the store suite is called ${unknown.join(', ')}`)
  return cases.map(one => (one.name in skip ? { ...one, skip: skip[one.name]! } : one))
}

const PARTS = [
  oracleCases,
  refusalCases,
  togetherCases,
  envelopeCases,
  timeCases,
  crowdCases,
  roomCases,
  keyCases,
  refundCases,
  slotCases,
  blockCases,
  reservationCases,
  bookingCases,
  changeCases,
  operatorCases,
  inspectionCases,
  waitCases,
]
