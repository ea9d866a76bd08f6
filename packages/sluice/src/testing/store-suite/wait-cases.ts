import type { Decision } from '../../decision.ts'
import { createLimiter } from '../../limiter/create.ts'
import type { Limiter } from '../../limiter/limiter.ts'
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../policy.ts'
import type { Mode } from '../../stores/store.ts'
import { type Case, holds, same, show } from './case.ts'
import { type Bench, TODAY, type World } from './world.ts'

/** Two requests pass at once (a leaky bucket queues them); a further one passes within five seconds. */
const EACH: readonly Policy[] = [
  tokenBucket({ capacity: 2, refill: '1/s' }),
  gcra({ rate: '1/s', burst: 2 }),
  leakyBucket({ capacity: 4, leak: '1/s' }),
  fixedWindow({ limit: 2, window: '2s' }),
  slidingWindow({ limit: 2, window: '2s' }),
  slidingLog({ limit: 2, window: '2s' }),
  concurrency({ limit: 2, ttl: '2s' }),
]
const LEAKY = EACH[2]!
/** Limits with room for all requests. Beside a leaky bucket they are charged while the request waits for its start. */
const WIDE: readonly Policy[] = [
  tokenBucket({ capacity: 4, refill: '1/s' }),
  fixedWindow({ limit: 4, window: '2s' }),
  slidingWindow({ limit: 4, window: '2s' }),
  slidingLog({ limit: 4, window: '2s' }),
  concurrency({ limit: 4, ttl: '10s' }),
]
const BESIDE_LEAKY = [...EACH.filter(policy => policy !== LEAKY), ...WIDE].map(policy => [policy, LEAKY])
const LIMITS: readonly (readonly Policy[])[] = [...EACH.map(policy => [policy]), EACH, ...BESIDE_LEAKY]

const STEP_MS = 500
const STEPS = 10
const STEPS_PER_WINDOW = 4
const KEYS = ['waiter', 'passer', 'twin', 'scout']

/** `wait` takes nothing for a request that does not start, in whatever order the answer and the abort come. */
export function waitCases(bench: Bench): Case[] {
  const cases: [name: string, run: (room: WaitingRoom) => Promise<void>][] = [
    ['a wait that passes at once takes what a consume takes', passesAtOnce],
    ['a wait that is refused at once takes nothing', refusedAtOnce],
    ['a wait that passes later takes what a consume takes then', passesLater],
    ['a wait aborted before it began takes nothing', abortedBefore],
    ['a wait aborted while its first answer is on its way takes all or nothing', abortedOnTheWay],
    ['a wait aborted while it waits leaves nothing taken and is not in the way', abortedWaiting],
    ['a wait aborted while its last answer is on its way takes all or nothing', abortedAtTheEnd],
    ['an abort after a wait has started changes nothing', abortedAfter],
  ]
  return cases.map(([name, run]) => ({
    name,
    run: async () => {
      for (const policies of LIMITS) {
        await bench.inWorld(world => {
          world.goTo(TODAY)
          return run(new WaitingRoom(world, policies))
        })
      }
    },
  }))
}

/** The result of a wait: its decision, or the reason of its rejection. */
interface WaitSeen {
  ended?: Decision
  reason?: unknown
}

/** A waiter with a signal, and other keys to compare with: `passer` waits without a signal, `twin` does not wait. */
class WaitingRoom {
  readonly limiter: Limiter<string, Mode>
  readonly abort = new AbortController()
  private readonly world: World
  private readonly policies: readonly Policy[]

  constructor(world: World, policies: readonly Policy[]) {
    const limits = policies.map((policy, i) => [`${i}`, { policy, key: (subject: string) => subject }])
    this.world = world
    this.policies = policies
    this.limiter = createLimiter<string, Mode>({ store: world.store, limits: Object.fromEntries(limits) })
  }

  wait(key = 'waiter', maxWait: '0s' | '1h' = '1h'): WaitSeen {
    const seen: WaitSeen = {}
    const signal = key === 'waiter' ? { signal: this.abort.signal } : {}
    this.limiter.wait(key, { maxWait, ...signal }).then(
      ended => Object.assign(seen, { ended }),
      reason => Object.assign(seen, { reason }),
    )
    return seen
  }

  async consume(key: string, cost: number): Promise<void> {
    const { allowed } = await this.limiter.consume(key, { cost })
    same(allowed, true, () => this.where('consume'))
  }

  /** Lets all calls under way arrive. It asks for each key, because in a cluster the keys are in different nodes. */
  async settle(): Promise<void> {
    for (let i = 0; i < 4; i++) {
      await Promise.all(KEYS.map(key => this.limiter.peek(key)))
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    }
  }

  /** Lets this many steps of time pass, or fewer if `isOver` returns true before. Returns how many have passed. */
  async pass(steps = STEPS, isOver: () => boolean = () => false): Promise<number> {
    for (let step = 0; step < steps; step++) {
      if (isOver()) return step
      this.advance()
      await this.settle()
    }
    return steps
  }

  /** Moves the clock by one step, without waiting for the calls that this causes. */
  advance(): void {
    this.world.clock.advance(STEP_MS)
  }

  async sameAs(twin: string, where: string): Promise<void> {
    const [one, other] = [await this.limiter.peek('waiter'), await this.limiter.peek(twin)]
    same(one.toJSON(), other.toJSON(), () => this.where(where))
  }

  /** The wait has passed and taken as much as that of `passer`, or it was aborted and has taken nothing. */
  async allOrNothing(seen: WaitSeen): Promise<void> {
    if (seen.ended === undefined) same(seen.reason, 'gone', () => this.where('what an abort rejects with'))
    const twin = seen.ended === undefined ? 'twin' : 'passer'
    await this.sameAs(twin, `what is taken after ${show(seen)}`)
  }

  where(what: string): string {
    return `${what}, limits ${show(this.policies)}`
  }
}

async function passesAtOnce(room: WaitingRoom): Promise<void> {
  const seen = room.wait()
  await room.settle()
  same(seen.ended?.allowed, true, () => room.where('a wait for a fresh key'))
  await room.consume('twin', 1)
  await room.sameAs('twin', 'after a wait that passed')
}

async function refusedAtOnce(room: WaitingRoom): Promise<void> {
  for (const key of ['waiter', 'twin']) await room.consume(key, 2)
  const seen = room.wait('waiter', '0s')
  await room.settle()
  same(seen.ended?.allowed, false, () => room.where('a wait of 0 s'))
  await room.sameAs('twin', 'after a refused wait')
}

async function passesLater(room: WaitingRoom): Promise<void> {
  for (const key of ['waiter', 'passer']) await room.consume(key, 2)
  const both = [room.wait(), room.wait('passer')]
  await room.pass()
  same(
    both.map(seen => seen.ended?.allowed),
    [true, true],
    () => room.where('waits of 5 s'),
  )
  await room.sameAs('passer', 'after both passed')
}

async function abortedBefore(room: WaitingRoom): Promise<void> {
  room.abort.abort('gone')
  const seen = room.wait()
  await room.settle()
  same(seen, { reason: 'gone' }, () => room.where('an aborted wait'))
  await room.sameAs('twin', 'after it')
}

async function abortedOnTheWay(room: WaitingRoom): Promise<void> {
  room.wait('passer')
  const seen = room.wait()
  room.abort.abort('gone')
  await room.settle()
  await room.allOrNothing(seen)
}

async function abortedWaiting(room: WaitingRoom): Promise<void> {
  for (const key of ['waiter', 'twin']) await room.consume(key, 2)
  const seen = room.wait()
  await room.settle()
  room.abort.abort('gone')
  await room.settle()
  same(seen, { reason: 'gone' }, () => room.where('an aborted wait'))
  await room.sameAs('twin', 'after it')
  await room.pass()
  await room.sameAs('twin', '5 s later')
}

/** Another key, `scout`, waits whole windows earlier. Its wait shows in which step the waiter will pass. */
async function abortedAtTheEnd(room: WaitingRoom): Promise<void> {
  await room.consume('scout', 2)
  const scout = room.wait('scout')
  const steps = await room.pass(STEPS, () => scout.ended !== undefined)
  await room.pass(STEPS_PER_WINDOW - (steps % STEPS_PER_WINDOW))
  for (const key of ['waiter', 'passer', 'twin']) await room.consume(key, 2)
  room.wait('passer')
  const seen = room.wait()
  await room.pass(steps - 1)
  holds(seen.ended === undefined, 'a wait that goes on', seen, () => room.where('a step before its end'))
  room.advance()
  room.abort.abort('gone')
  await room.settle()
  await room.allOrNothing(seen)
}

async function abortedAfter(room: WaitingRoom): Promise<void> {
  for (const key of ['waiter', 'passer']) await room.consume(key, 2)
  const [seen, passer] = [room.wait(), room.wait('passer')]
  await room.pass(STEPS, () => seen.ended !== undefined && passer.ended !== undefined)
  room.abort.abort('gone')
  await room.settle()
  same([seen.ended?.allowed, seen.reason], [true, undefined], () => room.where('a wait that passed'))
  await room.sameAs('passer', 'after the abort')
}
