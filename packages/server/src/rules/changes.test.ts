import { readDescriptorFiles, readRules } from 'sluice/rules'
import { describe, expect, test } from 'vitest'
import { ruleChanges } from './changes.ts'
import { descriptorChanges } from './descriptor-changes.ts'

const rules = (parsed: object) => ({ parsed, rules: readRules(parsed) })
const user = { key: 'user', 'fixed-window': '100/1h' }
const one = (limit: object) => rules({ limits: { user: { ...user, ...limit } } })

describe('what changed in our own rules', () => {
  test.each<[string, object, string[]]>([
    ['nothing', {}, []],
    [
      'a number',
      { 'fixed-window': '50/1h' },
      ["limit 'user' was 100 in 1h (fixed window), is now 50 in 1h (fixed window): what callers have used is kept"],
    ],
    [
      'a window',
      { 'fixed-window': '50/1m' },
      ["limit 'user' was 100 in 1h (fixed window), is now 50 in 1m (fixed window): starts afresh"],
    ],
    ['a key', { key: ['user', 'route'] }, ["limit 'user' counted by user, now by user and route: starts afresh"]],
    ['a mode', { mode: 'shadow' }, ["limit 'user' had mode enforce, now shadow"]],
    ['a cost', { cost: 'tokens' }, ["limit 'user' had cost as called, now tokens"]],
    ['a condition', { when: { route: ['/a', '/b*'] } }, ["limit 'user' had when nothing, now route '/a' or '/b*'"]],
    [
      'several',
      { on_outage: 'open', block_for: '15m', quiet: true },
      [
        "limit 'user' had on_outage local, now open",
        `limit 'user' had block_for nothing, now "15m"`,
        "limit 'user' had quiet false, now true",
      ],
    ],
  ])('%s', (_, limit, sentences) => {
    expect(ruleChanges(one({}), one(limit))).toEqual(sentences)
  })

  test('another algorithm', () => {
    const bucket = rules({ limits: { user: { key: 'user', 'token-bucket': { capacity: 9, refill: '1/s' } } } })
    expect(ruleChanges(one({}), bucket)).toEqual([
      "limit 'user' was 100 in 1h (fixed window), is now 9 at once, then 1 every 1s (token bucket): starts afresh",
    ])
  })

  test('plans', () => {
    const plans = (free: string, more: object = {}) =>
      rules({ limits: { user: { key: 'user', plans: { by: 'plan', free, ...more } } } })
    expect(ruleChanges(plans('60/1m'), plans('90/1m', { pro: '9/1h' }))).toEqual([
      "limit 'user' was plans by plan: free 60 in 1m (sliding window), is now plans by plan: free 90 in 1m (sliding " +
        'window), pro 9 in any 1h (sliding log): what callers have used is kept',
    ])
    expect(ruleChanges(plans('60/1m'), plans('60/1h'))).toEqual([expect.stringMatching(/: starts afresh$/)])
  })

  test('limits that come and go, and the settings above them', () => {
    const before = rules({ store: 'redis://:hunter2@a', limits: { user, old: user } })
    const after = rules({
      store: 'redis://:hunter3@a',
      prefix: 'shop',
      trusted_proxies: 1,
      limits: { new: user, user },
    })
    expect(ruleChanges(before, after)).toEqual([
      'name or prefix has changed: every limit starts afresh',
      'store has changed: that takes a restart',
      'trusted_proxies have changed',
      "limit 'new' is new: 100 in 1h (fixed window)",
      "limit 'old' is gone",
    ])
  })
})

describe('what changed in files for envoyproxy/ratelimit', () => {
  const files = (...descriptors: object[]) => {
    const parsed = [{ domain: 'edge', descriptors }]
    return { parsed, domains: readDescriptorFiles(parsed) }
  }
  const per = (unit: string, requests_per_unit: number, more: object = {}) => ({
    rate_limit: { unit, requests_per_unit, ...more },
  })
  const wild = { key: 'k', value: 'a*' }

  test.each<[object, object, string[]]>([
    [per('hour', 100), per('hour', 100), []],
    [
      per('hour', 100),
      per('hour', 50),
      ["rule 'edge.k_a*' was 100 in 1h (fixed window), is now 50 in 1h (fixed window): what callers have used is kept"],
    ],
    [
      per('hour', 100),
      per('day', 100),
      ["rule 'edge.k_a*' was 100 in 1h (fixed window), is now 100 in 1d (fixed window): starts afresh"],
    ],
    [
      per('hour', 100),
      { rate_limit: { unlimited: true } },
      ["rule 'edge.k_a*' was 100 in 1h (fixed window), is now unlimited: starts afresh"],
    ],
    [
      per('hour', 9),
      { ...per('hour', 9, { name: 'n', replaces: [{ name: 'm' }] }), shadow_mode: true, quota_mode: true },
      [
        "rule 'edge.k_a*' had shadow_mode false, now true",
        "rule 'edge.k_a*' had quota_mode false, now true",
        "rule 'edge.k_a*' had name none, now n",
        "rule 'edge.k_a*' had replaces nothing, now m",
      ],
    ],
    [
      per('hour', 9),
      { ...per('hour', 9, { on_outage: 'open' }), share_threshold: true },
      [
        "rule 'edge.k_a*' had on_outage local, now open: starts afresh",
        "rule 'edge.k_a*' counts values together now: starts afresh",
      ],
    ],
    [
      { rate_limits: [per('hour', 9).rate_limit] },
      { rate_limits: [per('hour', 9).rate_limit, per('day', 9).rate_limit] },
      ["rule 'edge.k_a* #2' is new: 9 in 1d (fixed window)"],
    ],
  ])('%j → %j', (before, after, sentences) => {
    expect(descriptorChanges(files({ ...wild, ...before }), files({ ...wild, ...after }))).toEqual(sentences)
  })

  test('rules that come and go', () => {
    const [a, b] = ['a', 'b'].map(key => ({ key, ...per('minute', 5) }))
    expect(descriptorChanges(files(a!), files(b!))).toEqual([
      "rule 'edge.b' is new: 5 in 1m (fixed window)",
      "rule 'edge.a' is gone",
    ])
  })
})
