import { fixedWindow, gcra, leakyBucket, type Policy, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { settle } from './bursts.ts'
import { burstAt, perSecond, type Scene, sequence, servedOf, World } from './scene.ts'

const KEYS = 10_000_000

const memory: Scene = {
  id: 'memory',
  title: 'Ten million keys',
  text: 'Each of ten million callers has used its limit of 100 a minute once. What does each algorithm have to remember?',
  question: 'How much more does the exact log need than GCRA?',
  answers: ['Twice as much', 'About ten times', 'More than fifty times'],
  right: 2,
  async run() {
    const kinds: readonly (readonly [string, string, Policy])[] = [
      ['gcra', 'GCRA', gcra({ rate: '100/m', burst: 100 })],
      ['bucket', 'Token bucket', tokenBucket({ capacity: 100, refill: '100/m' })],
      ['fixed', 'Fixed window', fixedWindow({ limit: 100, window: '1m' })],
      ['counter', 'Sliding counter', slidingWindow({ limit: 100, window: '1m' })],
      ['counter-6', 'Sliding counter, 6 sub-windows', slidingWindow({ limit: 100, window: '1m', buckets: 6 })],
      ['log', 'Sliding log', slidingLog({ limit: 100, window: '1m' })],
    ]
    return {
      figures: kinds.map(([id, label, policy]) => {
        const limiter = new World().limiter(policy)
        for (let n = 0; n < 100; n++) limiter.consume('caller')
        const { bytes } = limiter.inspect('caller')[0]!
        return {
          id,
          label: `${label}: ${bytes} bytes a key`,
          value: Math.round((bytes * KEYS) / 1e6),
          unit: 'MB',
          mark: id === 'log' ? 'over' : 'good',
        }
      }),
      conclusion:
        'A log pays for every request it remembers; the others pay a few numbers, however high the limit is. These are the bytes the library itself reports, for the state alone.',
    }
  },
}

const CLIENTS = 100

const jitter: Scene = {
  id: 'retry-jitter',
  title: 'Everybody again in one second',
  text: '100 clients fail at the same moment. The service takes 20 at once and refills 10 a second. Without jitter all of them retry every second.',
  question: 'What does full jitter change?',
  answers: ['Everybody is served sooner', 'About half as many requests are wasted', 'Nothing: the same work arrives'],
  right: 1,
  async run() {
    const next = sequence(5)
    const plain = retries(() => 1000)
    const jittered = retries(attempt => next() * Math.min(16_000, 1000 * 2 ** attempt))
    return {
      figures: [
        { id: 'plain', label: 'Every second: requests refused', value: plain.refused, mark: 'over' },
        { id: 'jitter', label: 'Backoff with full jitter: requests refused', value: jittered.refused, mark: 'good' },
        { id: 'plain-peak', label: 'Every second: worst second after the first', value: plain.peak, mark: 'over' },
        { id: 'jitter-peak', label: 'With jitter: worst second after the first', value: jittered.peak, mark: 'good' },
      ],
      chart: {
        title: 'Requests a second',
        xs: plain.seconds.map((_, second) => second),
        series: [
          { label: 'every second', ys: plain.seconds, mark: 'refused' },
          { label: 'full jitter', ys: jittered.seconds, mark: 'served' },
        ],
      },
      conclusion:
        'The service serves as many either way: it is the limit. What jitter saves is the requests that were refused, and the spikes in which they came.',
    }
  },
}

function retries(delayOf: (attempt: number) => number) {
  const world = new World()
  const limiter = world.limiter(tokenBucket({ capacity: 20, refill: '10/s' }))
  const waiting = Array.from({ length: CLIENTS }, () => ({ at: 0, attempt: 0 }))
  const times: number[] = []
  let refused = 0
  while (waiting.length > 0) {
    const soonest = waiting.reduce((first, one) => (one.at < first.at ? one : first))
    world.goTo(soonest.at)
    times.push(soonest.at)
    if (limiter.consume('service').allowed) waiting.splice(waiting.indexOf(soonest), 1)
    else {
      refused++
      soonest.attempt++
      soonest.at += delayOf(soonest.attempt)
    }
  }
  const seconds = perSecond(times, 16)
  return { refused, seconds, peak: Math.max(...seconds.slice(1)) }
}

const queueing: Scene = {
  id: 'limit-or-queue',
  title: 'Refuse, queue, or some of both',
  text: '30 requests arrive at once; the service works off 5 a second. One may refuse what is too much, queue all of it, or queue what can start within 2 seconds.',
  question: 'How many are served if nobody waits longer than 2 seconds?',
  answers: ['5', '11', '30'],
  right: 1,
  async run() {
    const world = new World()
    const limiter = world.limiter(tokenBucket({ capacity: 5, refill: '5/s' }))
    const refusing = world.feed(burstAt(0, 30, 0), () => limiter.consume('client'))
    const queued = await queue('1h')
    const bounded = await queue('2s')
    return {
      spanMs: 6500,
      tracks: [
        { label: 'Refuse', note: 'nobody waits', dots: refusing },
        { label: 'Queue all', note: 'nobody is refused', dots: queued.dots },
        { label: 'Queue up to 2 s', note: 'wait({ maxWait })', dots: bounded.dots },
      ],
      figures: [
        { id: 'refuse', label: 'Refuse: served', value: servedOf(refusing) },
        { id: 'queue', label: 'Queue all: the last waits', value: queued.longest / 1000, unit: 's', mark: 'over' },
        { id: 'bounded', label: 'Queue up to 2 s: served', value: servedOf(bounded.dots), mark: 'good' },
        {
          id: 'bounded-wait',
          label: 'Queue up to 2 s: the last waits',
          value: bounded.longest / 1000,
          unit: 's',
          mark: 'good',
        },
      ],
      conclusion:
        'A queue trades refusals for waiting, and a queue without a bound trades them for timeouts. Bound it by what the caller would wait.',
    }
  },
}

async function queue(maxWait: '1h' | '2s') {
  const world = new World()
  const limiter = world.limiter(leakyBucket({ capacity: 30, leak: '5/s' }))
  const answers = Array.from({ length: 30 }, () =>
    limiter.wait('client', { maxWait }).then(({ allowed }) => ({ at: world.now, served: allowed })),
  )
  for (let ms = 0; ms <= 6500; ms += 50) {
    world.goTo(ms)
    await settle()
  }
  const dots = await Promise.all(answers)
  return { dots, longest: Math.max(...dots.filter(({ served }) => served).map(({ at }) => at)) }
}

export const costs: readonly Scene[] = [memory, jitter, queueing]
