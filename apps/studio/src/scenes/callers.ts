import { createLimiter, limits, memoryStore, slidingLog, tokenBucket } from 'sluice'
import { EPOCH } from '../model/run.ts'
import { burstAt, type Scene, servedOf, World } from './scene.ts'

const nat: Scene = {
  id: 'shared-address',
  title: 'Thirty people, one address',
  text: 'An office of 30 people shares one public address. Each makes 5 requests a minute. The limit is 60 a minute by address.',
  question: 'How many of their 150 requests are refused?',
  answers: ['None: each one is far below the limit', '90: together they are over it', '150: the address is blocked'],
  right: 1,
  async run() {
    const times = Array.from({ length: 150 }, (_, n) => n * 390)
    const byAddress = new World()
    const perAddress = byAddress.limiter(slidingLog({ limit: 60, window: '1m' }))
    const address = byAddress.feed(times, () => perAddress.consume('203.0.113.7'))
    const byUser = new World()
    const perUser = byUser.limiter(slidingLog({ limit: 60, window: '1m' }))
    const user = byUser.feed(times, n => perUser.consume(`user ${n % 30}`))
    return {
      spanMs: 60_000,
      tracks: [
        { label: 'Key: address', note: `${servedOf(address)} of 150 served`, dots: address },
        { label: 'Key: user', note: `${servedOf(user)} of 150 served`, dots: user },
      ],
      figures: [
        { id: 'address', label: 'By address: refused', value: 150 - servedOf(address), mark: 'over' },
        { id: 'user', label: 'By user: refused', value: 150 - servedOf(user), mark: 'good' },
      ],
      conclusion:
        'An address is a building, not a person. Count by user where there is one, and keep the limit by address as a wide outer fence.',
    }
  },
}

interface Attempt {
  readonly ip: string
  readonly user: string
}

const login: Scene = {
  id: 'rotating-addresses',
  title: 'Guessing a password from 500 addresses',
  text: 'An attacker tries passwords on one account, each from another address. The limit is 5 in 15 minutes by address.',
  question: 'How many of 500 attempts pass?',
  answers: ['5', '20', '500'],
  right: 2,
  async run() {
    const attempts: Attempt[] = Array.from({ length: 500 }, (_, n) => ({ ip: `198.51.100.${n}`, user: 'alice' }))
    const byIp = limits<Attempt>({ ip: { policy: slidingLog({ limit: 5, window: '15m' }), key: a => a.ip } })
    const three = limits<Attempt>({
      ...byIp,
      both: { policy: slidingLog({ limit: 5, window: '15m' }), key: a => [a.ip, a.user] },
      user: { policy: slidingLog({ limit: 20, window: '15m' }), key: a => a.user },
    })
    const passed = (options: typeof byIp) => {
      const { clock } = new World()
      const limiter = createLimiter<Attempt>({ limits: options, clock })
      return attempts.filter(attempt => limiter.consume(attempt).allowed).length
    }
    return {
      figures: [
        { id: 'ip', label: 'By address alone', value: passed(byIp), mark: 'over' },
        { id: 'three', label: 'By address, by account, by both', value: passed(three), mark: 'good' },
      ],
      conclusion:
        'Each tuple stops another attacker: the address stops one machine with many accounts, the account stops many machines with one, and the pair lets the owner in while others guess. All three are one decision.',
    }
  },
}

const weighted: Scene = {
  id: 'weighted-cost',
  title: 'An export is not a ping',
  text: 'The service can carry 100 units of work at once. A ping is 1 unit, an export 25. A client asks for 100 exports.',
  question: 'How many units of work does a limit of 100 requests let through?',
  answers: ['100', '400', '2500'],
  right: 2,
  async run() {
    const policy = tokenBucket({ capacity: 100, refill: '100/m' })
    const unweighted = new World()
    const plain = unweighted.limiter(policy)
    const counted = unweighted.feed(burstAt(0, 100, 0), () => plain.consume('client'))
    const world = new World()
    const byCost = world.limiter(policy)
    const costed = world.feed(burstAt(0, 100, 0), () => byCost.consume('client', { cost: 25 }))
    return {
      figures: [
        { id: 'requests', label: 'Counted as requests: units of work', value: servedOf(counted) * 25, mark: 'over' },
        { id: 'units', label: 'Counted by cost: units of work', value: servedOf(costed) * 25, mark: 'good' },
        { id: 'exports', label: 'Exports served by cost', value: servedOf(costed) },
      ],
      conclusion: 'A limit protects what it counts. Where requests differ, give each its cost and count that.',
    }
  },
}

const paths: Scene = {
  id: 'raw-paths',
  title: 'Keys from raw paths',
  text: 'A limit of 100 a minute uses the path as its key. A crawler walks /users/1, /users/2, … 10,000 of them.',
  question: 'How many are served, and how many keys does the store hold?',
  answers: ['100 served, 1 key', '10,000 served, 10,000 keys', '100 served, 10,000 keys'],
  right: 1,
  async run() {
    const walk = (keyOf: (n: number) => string) => {
      const store = memoryStore({ clock: { now: () => EPOCH } })
      const limiter = createLimiter(slidingLog({ limit: 100, window: '1m' }), { store })
      let served = 0
      for (let n = 0; n < 10_000; n++) if (limiter.consume(keyOf(n)).allowed) served++
      return { served, keys: store.size }
    }
    const raw = walk(n => `/users/${n}`)
    const route = walk(() => '/users/:id')
    return {
      figures: [
        { id: 'raw-served', label: 'Raw path: served', value: raw.served, mark: 'over' },
        { id: 'raw-keys', label: 'Raw path: keys held', value: raw.keys, mark: 'over' },
        { id: 'route-served', label: 'Route: served', value: route.served, mark: 'good' },
        { id: 'route-keys', label: 'Route: keys held', value: route.keys, mark: 'good' },
      ],
      conclusion:
        'Whoever may choose the key may choose a fresh limit, and fill the store besides. Use the route as the framework knows it, never the path as the client wrote it.',
    }
  },
}

export const callers: readonly Scene[] = [nat, login, weighted, paths]
