import { fixedWindow, gcra, leakyBucket, type Policy, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { burstAt, type Dot, perSecond, type Scene, sequence, servedOf, World, worstIn } from './scene.ts'

const MINUTE = 60_000

function track(policy: Policy, times: readonly number[]): Dot[] {
  const world = new World()
  const limiter = world.limiter(policy)
  return world.feed(times, () => limiter.consume('client'))
}

const boundary: Scene = {
  id: 'boundary-burst',
  title: 'The boundary burst',
  text: 'The limit is 100 a minute. A client sends 100 requests half a second before the minute is over, and 100 more half a second after it.',
  question: 'How many of the 200 does a fixed window serve within one second?',
  answers: ['100: the limit is the limit', '150: it evens out', '200: twice the limit'],
  right: 2,
  async run() {
    const times = [...burstAt(59_500, 100), ...burstAt(60_500, 100)]
    const runs = [
      { id: 'fixed', label: 'Fixed window', dots: track(fixedWindow({ limit: 100, window: '1m' }), times) },
      { id: 'counter', label: 'Sliding counter', dots: track(slidingWindow({ limit: 100, window: '1m' }), times) },
      { id: 'log', label: 'Sliding log', dots: track(slidingLog({ limit: 100, window: '1m' }), times) },
      { id: 'bucket', label: 'Token bucket', dots: track(tokenBucket({ capacity: 100, refill: '100/m' }), times) },
    ]
    return {
      fromMs: 59_000,
      spanMs: 2000,
      period: { fromMs: 60_000, untilMs: 60_010, label: 'the minute ends' },
      tracks: runs.map(({ label, dots }) => ({ label, note: `${servedOf(dots)} of 200 served`, dots })),
      figures: runs.map(({ id, label, dots }) => {
        const worst = worstIn(dots, MINUTE)
        return { id, label: `${label}: worst in any minute`, value: worst, mark: worst > 110 ? 'over' : 'good' }
      }),
      conclusion:
        'A fixed window forgets everything at the boundary, so two full limits meet there. The sliding kinds remember the minute that lies behind; a bucket only adds what it refilled meanwhile.',
    }
  },
}

const idle: Scene = {
  id: 'idle-then-burst',
  title: 'Idle, then a burst',
  text: 'A client was quiet for an hour and now loads a page: 50 requests at once. On average every limit here allows one a second.',
  question: 'Which of them lets a burst of exactly 20 pass?',
  answers: ['A token bucket of capacity 20', 'GCRA with a burst of 1', 'A fixed window of 60 a minute'],
  right: 0,
  async run() {
    const times = burstAt(3_600_000, 50, 0)
    const runs = [
      {
        id: 'bucket',
        label: 'Token bucket, capacity 20',
        dots: track(tokenBucket({ capacity: 20, refill: '1/s' }), times),
      },
      { id: 'gcra', label: 'GCRA, burst 1', dots: track(gcra({ rate: '1/s', burst: 1 }), times) },
      { id: 'fixed', label: 'Fixed window, 60/min', dots: track(fixedWindow({ limit: 60, window: '1m' }), times) },
    ]
    return {
      figures: runs.map(({ id, label, dots }) => ({ id, label: `${label}: served of 50`, value: servedOf(dots) })),
      conclusion:
        'The capacity says how much may come at once, the refill how much may come in the long run. A window has one number for both; a burst of 1 forces a pause after every request.',
    }
  },
}

const smoothing: Scene = {
  id: 'smoothing',
  title: 'In front of a fragile backend',
  text: 'The backend breaks above 5 requests a second. 20 requests arrive at once. A leaky bucket of 20 with a leak of 5 a second stands in front of it.',
  question: 'How many reach the backend in the first second when the bucket polices, and how many when it shapes?',
  answers: ['20 and 5', '5 and 5', '20 and 20'],
  right: 0,
  async run() {
    const policy = leakyBucket({ capacity: 20, leak: '5/s' })
    const policed = track(policy, burstAt(0, 20, 0))
    const world = new World()
    const limiter = world.limiter(policy)
    const starts: number[] = []
    const waits = Array.from({ length: 20 }, () =>
      limiter.wait('client').then(decision => {
        if (decision.allowed) starts.push(world.now)
      }),
    )
    for (let ms = 0; ms <= 5000; ms += 50) {
      world.goTo(ms)
      await settle()
    }
    await Promise.all(waits)
    return {
      spanMs: 5000,
      tracks: [
        { label: 'Policing', note: 'all at once', dots: policed },
        { label: 'Shaping', note: 'one every 200 ms', dots: starts.map(at => ({ at, served: true })) },
      ],
      figures: [
        { id: 'policing', label: 'Policing: most in a second', value: worstIn(policed, 1000), mark: 'over' },
        { id: 'shaping', label: 'Shaping: most in a second', value: Math.max(...perSecond(starts, 6)), mark: 'good' },
        { id: 'last', label: 'Shaping: the last one waits', value: Math.max(...starts) / 1000, unit: 's' },
      ],
      conclusion:
        'Policing decides whether; shaping decides when. Shaping costs the caller time and the process a queue, and the backend sees a straight line.',
    }
  },
}

/** Lets promises that have resolved run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await Promise.resolve()
}

const CLIENTS = 200

const herd: Scene = {
  id: 'thundering-herd',
  title: 'The herd at reset',
  text: '200 clients use up their 5 a minute, are told when to come back, and all do exactly that. The windows of all of them start with the minute.',
  question: 'How many requests are served in the worst second afterwards?',
  answers: ['About 17: 1000 a minute, spread', '1000: everybody at the same moment', '200: one of each'],
  right: 1,
  async run() {
    const kinds = [
      { id: 'epoch', label: "Fixed window, align: 'epoch'", policy: fixedWindow({ limit: 5, window: '1m' }) },
      { id: 'key', label: "Fixed window, align: 'key'", policy: fixedWindow({ limit: 5, window: '1m', align: 'key' }) },
      { id: 'bucket', label: 'Token bucket', policy: tokenBucket({ capacity: 5, refill: '5/m' }) },
    ].map(kind => ({ ...kind, seconds: arrivals(kind.policy) }))
    return {
      figures: kinds.map(({ id, label, seconds }) => {
        const peak = Math.max(...seconds.slice(60))
        return { id, label: `${label}: served in the worst second`, value: peak, mark: peak > 500 ? 'over' : 'good' }
      }),
      chart: {
        title: 'Served a second',
        xs: kinds[0]!.seconds.map((_, second) => second),
        series: [
          { label: "align: 'epoch'", ys: kinds[0]!.seconds, mark: 'refused' },
          { label: "align: 'key'", ys: kinds[1]!.seconds, mark: 'served' },
          { label: 'token bucket', ys: kinds[2]!.seconds, mark: 'other' },
        ],
      },
      conclusion:
        "When all windows end together, all clients come back together. `align: 'key'` gives each key its own boundary; a bucket has none and frees one place at a time.",
    }
  },
}

/** Served requests per second over three minutes, by clients that retry when they are told to. */
function arrivals(policy: Policy): number[] {
  const world = new World()
  const limiter = world.limiter(policy)
  const next = sequence(3)
  const due = Array.from({ length: CLIENTS }, (_, client) => ({ client, at: next() * 50_000 }))
  const served: number[] = []
  while (due.length > 0) {
    const soonest = due.reduce((first, one) => (one.at < first.at ? one : first))
    if (soonest.at >= 180_000) break
    world.goTo(soonest.at)
    let decision = limiter.consume(`client ${soonest.client}`)
    while (decision.allowed) {
      served.push(world.now)
      decision = limiter.consume(`client ${soonest.client}`)
    }
    soonest.at = world.now + decision.retryAfterMs
  }
  return perSecond(served, 180)
}

export const bursts: readonly Scene[] = [boundary, idle, smoothing, herd]
