import { createLimiter, fixedWindow, type Limiter, slidingLog } from 'sluice'
import { simulatedStore } from 'sluice/testing'
import { EPOCH } from '../model/run.ts'
import { settle } from './bursts.ts'
import { type Dot, type Figure, type Scene, type Sequence, type Step, servedOf, World } from './scene.ts'

const race: Scene = {
  id: 'get-then-set',
  title: 'Look, then take',
  text: 'Nine of ten are used. Two servers read the counter, see one place left, serve, and then count. The store answers each call correctly.',
  question: 'How many requests are served in all?',
  answers: ['10', '11', '9'],
  right: 1,
  async run() {
    const looked = await interleaved('Look, then take: two calls', async (server, say) => {
      const { allowed, remaining } = await server.peek('client')
      say(`reads: ${remaining} left`)
      if (!allowed) return say('refuses')
      say('serves the request', 'over')
      const taken = await server.consume('client')
      say(`counts it: ${taken.allowed ? 'ten of ten' : 'there was no place left'}`)
    })
    const taken = await interleaved('Decide and take: one call', async (server, say) => {
      const { allowed } = await server.consume('client')
      say(allowed ? 'takes the last place, and serves' : 'is told no, and refuses', allowed ? 'good' : undefined)
    })
    return {
      sequences: [looked, taken],
      figures: [
        { id: 'look', label: 'Look, then take: served', value: 9 + servedIn(looked), mark: 'over' },
        { id: 'atomic', label: 'One atomic call: served', value: 9 + servedIn(taken), mark: 'good' },
      ],
      conclusion:
        'Between looking and taking there is time for somebody else. `consume` decides and takes in one step, in one script on the server; `peek` is for showing, never for deciding.',
    }
  },
}

type Server = Limiter<string, 'async'>
type Say = (text: string, mark?: 'good' | 'over') => void

function servedIn({ steps }: Sequence): number {
  return steps.filter(({ mark }) => mark !== undefined).length
}

/** Two servers on one store, the second a moment behind the first, when nine of ten places are taken. */
async function interleaved(title: string, act: (server: Server, say: Say) => Promise<void>): Promise<Sequence> {
  const { clock } = new World()
  const store = simulatedStore({ clock, delayMs: 2 })
  const servers = [0, 1].map(() => createLimiter(slidingLog({ limit: 10, window: '1m' }), { store }))
  const steps: Step[] = []
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed++) {
      await settle()
      clock.advance(1)
    }
    await settle()
  }
  for (let n = 0; n < 9; n++) {
    void servers[0]!.consume('client')
    await pass(5)
  }
  const running: Promise<void>[] = []
  for (const [n, server] of servers.entries()) {
    running.push(
      act(server, (text, mark) => {
        steps.push({ server: n === 0 ? 0 : 1, text, ...(mark !== undefined && { mark }) })
      }),
    )
    await pass(1)
  }
  await pass(20)
  await Promise.all(running)
  return { title, steps }
}

const NODES = 10

const balancer: Scene = {
  id: 'ten-nodes',
  title: 'Ten nodes behind a balancer',
  text: 'Each of ten nodes keeps its own counter of 100 a minute. The balancer deals requests out in turn. A client sends a burst of 100.',
  question: 'How many of the 100 pass?',
  answers: ['10', '100: no node sees more than ten', '50'],
  right: 1,
  async run() {
    const local = (limit: number, n: number, nodeOf: (n: number) => number): Dot[] => {
      const world = new World()
      const nodes = Array.from({ length: NODES }, () => world.limiter(slidingLog({ limit, window: '1m' })))
      return world.feed(
        Array.from({ length: n }, (_, i) => i * 5),
        i => nodes[nodeOf(i)]!.consume('client'),
      )
    }
    const inTurn = (n: number) => n % NODES
    const whole = local(100, 100, inTurn)
    const flood = local(100, 2000, inTurn)
    const pinned = local(10, 100, () => 0)
    const shared = await sharedBy(NODES, 2000)
    return {
      spanMs: 10_000,
      tracks: [
        { label: 'Whole limit per node', note: '2000 in turn', dots: flood },
        { label: 'A tenth per node', note: '100 from a pinned client', dots: pinned },
        { label: 'One shared store', note: '2000 in turn', dots: shared },
      ],
      figures: [
        { id: 'whole', label: 'Whole limit per node: served of 100', value: servedOf(whole) },
        { id: 'flood', label: 'The same, of 2000', value: servedOf(flood), mark: 'over' },
        { id: 'pinned', label: 'A tenth per node, pinned: served of 100', value: servedOf(pinned), mark: 'over' },
        { id: 'shared', label: 'One shared store: served of 2000', value: servedOf(shared), mark: 'good' },
      ],
      conclusion:
        'Counters of their own multiply the limit by the nodes, and dividing it punishes a client that always meets the same node. A shared store counts once.',
    }
  },
}

async function sharedBy(nodes: number, n: number): Promise<Dot[]> {
  const world = new World()
  const store = simulatedStore({ clock: world.clock, delayMs: 1 })
  const limiters = Array.from({ length: nodes }, () =>
    createLimiter(slidingLog({ limit: 100, window: '1m' }), { store }),
  )
  const answers: Promise<Dot>[] = []
  for (let i = 0; i < n; i++) {
    world.goTo(i * 5)
    answers.push(limiters[i % nodes]!.consume('client').then(({ allowed }) => ({ at: i * 5, served: allowed })))
  }
  world.goTo(n * 5 + 10)
  return Promise.all(answers)
}

const outage: Scene = {
  id: 'store-down',
  title: 'The store goes down',
  text: 'The limit is 50 in 10 seconds, 20 requests come each second, and the store is away from second 10 to second 20.',
  question: "How many of the 200 requests during the outage does `onOutage: 'local'` serve?",
  answers: ['200: it fails open', '0: it fails closed', '25: half of the limit, in this process'],
  right: 2,
  async run() {
    const settings = ['open', 'closed', 'local'] as const
    const runs = await Promise.all(settings.map(async onOutage => ({ onOutage, dots: await throughOutage(onOutage) })))
    return {
      spanMs: 30_000,
      period: { fromMs: 10_000, untilMs: 20_000, label: 'the store is away' },
      tracks: runs.map(({ onOutage, dots }) => ({
        label: `onOutage: '${onOutage}'`,
        note: `${servedOf(dots)} of 600 served`,
        dots,
      })),
      figures: runs.map(({ onOutage, dots }): Figure => {
        const value = servedOf(dots.filter(({ at }) => at >= 10_000 && at < 20_000))
        return {
          id: onOutage,
          label: `${onOutage}: served of 200 while it is away`,
          value,
          mark: onOutage === 'open' ? 'over' : 'good',
        }
      }),
      conclusion:
        'Open bets that nobody attacks now, closed turns an outage of the store into one of the service. Local keeps a share of the limit in each process, and its state survives a store that comes and goes.',
    }
  },
}

async function throughOutage(onOutage: 'open' | 'closed' | 'local'): Promise<Dot[]> {
  const world = new World()
  const store = simulatedStore({ clock: world.clock, delayMs: 1 })
  const limiter = createLimiter(slidingLog({ limit: 50, window: '10s' }), { store, onOutage })
  const dots: Dot[] = []
  for (let at = 0; at < 30_000; at += 50) {
    world.goTo(at)
    store.up = at < 10_000 || at >= 20_000
    const answer = limiter.consume('client')
    world.goTo(at + 2)
    dots.push({ at, served: (await answer).allowed })
  }
  return dots
}

const skew: Scene = {
  id: 'clock-skew',
  title: 'Two clocks',
  text: 'Two nodes share a counter of 100 a minute. Each works out which minute it is from its own clock, and one clock is 30 seconds ahead.',
  question: 'How many requests does a client get served in one minute?',
  answers: ['100', '130', '200'],
  right: 2,
  async run() {
    const own = await onNodes(true)
    const stores = await onNodes(false)
    return {
      figures: [
        { id: 'own', label: "By the nodes' own clocks: served in a minute", value: own, mark: 'over' },
        { id: 'store', label: "By the store's clock: served in a minute", value: stores, mark: 'good' },
      ],
      conclusion:
        'A window that two clocks place differently is two windows. Sluice asks the store what time it is, so there is one clock for all nodes.',
    }
  },
}

/** 150 requests at each of two nodes, in the second half of a minute. */
async function onNodes(ownClocks: boolean): Promise<number> {
  const world = new World()
  const store = simulatedStore({ clock: world.clock, delayMs: 1 })
  world.goTo(30_000)
  const limiter = createLimiter(fixedWindow({ limit: 100, window: ownClocks ? '1h' : '1m' }), { store })
  const keyOf = (aheadMs: number) =>
    ownClocks ? `minute ${Math.floor((EPOCH + world.now + aheadMs) / 60_000)}` : 'client'
  const answers = Array.from({ length: 300 }, (_, n) => limiter.consume(keyOf(n % 2 === 0 ? 0 : 30_000)))
  world.goTo(30_010)
  return (await Promise.all(answers)).filter(({ allowed }) => allowed).length
}

export const nodes: readonly Scene[] = [race, balancer, outage, skew]
