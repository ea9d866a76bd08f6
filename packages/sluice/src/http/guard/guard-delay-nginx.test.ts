import { describe, expect, test } from 'vitest'
import { arrivalsAt } from '../../fixtures/http/arrivals.ts'
import { type NginxLimit, NginxZone } from '../../fixtures/http/nginx-zone.ts'
import { gcra, leakyBucket, tokenBucket } from '../../index.ts'
import { random } from '../../testing/index.ts'
import { ip } from '../index.ts'

describe('as nginx has it', () => {
  test('rate=5r/s burst=12 delay=8: nine at once, four wait, then nobody', () => {
    const { arrivals } = arrivalsAt({
      caller: { policy: tokenBucket({ capacity: 13, refill: '5/s' }), key: ip(), delay: 8 },
    })
    expect(arrivals(15)).toEqual([...Array(9).fill(0), 200, 400, 600, 800, 'refused', 'refused'])
  })

  const CONFIGS: NginxLimit[] = [
    { requests: 5, per: 's', burst: 12, delay: 8 },
    { requests: 1, per: 's', burst: 5, delay: 0 },
    { requests: 1, per: 's', burst: 5, delay: Infinity },
    { requests: 7, per: 's', burst: 20, delay: 3 },
    { requests: 100, per: 's', burst: 30, delay: 10 },
    { requests: 3, per: 's', burst: 0, delay: 0 },
    { requests: 3, per: 's', burst: 1, delay: 0 },
    { requests: 1000, per: 's', burst: 50, delay: 20 },
    { requests: 90, per: 'm', burst: 6, delay: 2 },
    { requests: 10, per: 'm', burst: 4, delay: 1 },
    { requests: 1, per: 'm', burst: 3, delay: 0 },
  ]

  const named = ({ requests, per, burst, delay }: NginxLimit) => {
    return `rate=${requests}r/${per} burst=${burst} ${delay < Infinity ? `delay=${delay}` : 'nodelay'}`
  }

  const KINDS = {
    tokenBucket: (capacity: number, rate: NginxZone['rate']) => tokenBucket({ capacity, refill: rate }),
    leakyBucket: (capacity: number, rate: NginxZone['rate']) => leakyBucket({ capacity, leak: rate }),
    gcra: (capacity: number, rate: NginxZone['rate']) => gcra({ rate, burst: capacity }),
  }

  // Our times are whole microseconds and rounded up, nginx's whole milliseconds and cut off: less than one apart.
  test.each(CONFIGS.map(config => [named(config), config] as const))('%s', (_name, config) => {
    const { burst, delay } = config
    const unlike: string[] = []
    for (const [kind, policyOf] of Object.entries(KINDS)) {
      for (let seed = 1; seed <= 3; seed++) {
        const [zone, rng] = [new NginxZone(config), random(seed)]
        const limit = { policy: policyOf(burst + 1, zone.rate), key: ip(), ...(delay < Infinity && { delay }) }
        const { arrive, clock } = arrivalsAt({ caller: limit })
        for (let n = 0; n < 200; n++) {
          const [theirs, ours] = [zone.ask(clock.now()), arrive()]
          const alike = theirs === 'refused' ? ours === theirs : Number(ours) >= theirs && Number(ours) < theirs + 1
          if (!alike) unlike.push(`${kind}, seed ${seed}, at ${clock.now()}: ${theirs} by nginx, ${ours} by us`)
          clock.advance(zone.gapMs(rng))
        }
      }
    }
    expect(unlike).toEqual([])
  })

  test('the traces do reach all that can happen', () => {
    for (const config of CONFIGS) {
      const zone = new NginxZone(config)
      const rng = random(1)
      let now = 0
      const seen = new Set<string>()
      for (let n = 0; n < 300; n++) {
        const answer = zone.ask(now)
        seen.add(answer === 'refused' ? answer : answer > 0 ? 'waits' : 'passes')
        now += zone.gapMs(rng)
      }
      const waits = config.delay < config.burst
      expect([...seen].sort()).toEqual(waits ? ['passes', 'refused', 'waits'] : ['passes', 'refused'])
    }
  })
})
