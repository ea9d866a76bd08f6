import { describe, expect, test } from 'vitest'
import { type Any, codeOf } from '../../fixtures/limiter/misuse.ts'
import { fixedWindow, tokenBucket } from '../../index.ts'
import { createGuard, type GuardLimit, ip } from '../index.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1m' })
const BUCKET = tokenBucket({ capacity: 5, refill: '1/s' })

describe('options that mean nothing are refused when the guard is made', () => {
  const limit = (own: Any) => () => createGuard({ limits: { caller: { policy: of(1), key: ip(), ...own } } })
  const options = (own: Any) => () => createGuard({ policy: of(1), ...own })

  test.each<[string, () => unknown, string]>([
    ['nothing', () => createGuard(undefined as Any), 'SLUICE_BAD_OPTION'],
    ['no policy', () => createGuard({} as Any), 'SLUICE_BAD_OPTION'],
    ['no limits', () => createGuard({ limits: {} }), 'SLUICE_BAD_OPTION'],
    ['limits in a list', () => createGuard({ limits: [] as Any }), 'SLUICE_BAD_OPTION'],
    ['limits beside a policy', options({ limits: { a: { policy: of(1) } } }), 'SLUICE_BAD_OPTION'],
    ['a limit that is none', () => createGuard({ limits: { a: null as Any } }), 'SLUICE_BAD_OPTION'],
    ['a limit without a policy', () => createGuard({ limits: { a: {} as Any } }), 'SLUICE_BAD_POLICY'],
    ['an option of a limit misspelt', limit({ costs: 5 }), 'SLUICE_BAD_OPTION'],
    ['an option of the guard misspelt', options({ trustProxies: 1 }), 'SLUICE_BAD_OPTION'],
    ['a policy that is none', options({ policy: 'fast' }), 'SLUICE_BAD_RATE'],
    ['a key that is a text', limit({ key: 'ip' }), 'SLUICE_BAD_OPTION'],
    ['when', limit({ when: true }), 'SLUICE_BAD_OPTION'],
    ['countWhen', limit({ countWhen: 401 }), 'SLUICE_BAD_OPTION'],
    ['resetWhen', limit({ resetWhen: 200 }), 'SLUICE_BAD_OPTION'],
    ['settle', limit({ settle: 'seconds' }), 'SLUICE_BAD_OPTION'],
    ['settle beside countWhen', limit({ settle: 'ms', countWhen: () => true }), 'SLUICE_BAD_OPTION'],
    ['a cost', limit({ cost: -1 }), 'SLUICE_BAD_COST'],
    ['a cost that is a text', limit({ cost: '5' }), 'SLUICE_BAD_COST'],
    ['a cost that is null', limit({ cost: null }), 'SLUICE_BAD_COST'],
    ['a cost in a table', limit({ cost: { '/a': 1.5 } }), 'SLUICE_BAD_COST'],
    ['a mode', limit({ mode: 'on' }), 'SLUICE_BAD_MODE'],
    ['a mode that is no text', limit({ mode: true }), 'SLUICE_BAD_MODE'],
    ['a rollout', limit({ rollout: 101 }), 'SLUICE_BAD_OPTION'],
    ['a rollout that is a text', limit({ rollout: '10%' }), 'SLUICE_BAD_OPTION'],
    ['a rollout beside a mode', limit({ rollout: 10, mode: 'shadow' }), 'SLUICE_BAD_MODE'],
    ['a rollout without keys', limit({ rollout: 10, key: undefined }), 'SLUICE_BAD_OPTION'],
    ['a delay', limit({ delay: -1 }), 'SLUICE_BAD_OPTION'],
    ['a delay of a window', limit({ delay: 'all' }), 'SLUICE_NOT_SUPPORTED'],
    [
      'a delay of what is not drained',
      limit({ delay: 1, policy: BUCKET, countWhen: () => true }),
      'SLUICE_NOT_SUPPORTED',
    ],
    ['quiet', limit({ quiet: 'yes' }), 'SLUICE_BAD_OPTION'],
    ['replaces', limit({ replaces: 'nobody', mode: 'shadow' }), 'SLUICE_UNKNOWN_LIMIT'],
    ['bucket', limit({ bucket: '' }), 'SLUICE_BAD_OPTION'],
    ['blockFor', limit({ blockFor: 'long' }), 'SLUICE_BAD_BLOCK'],
    ['onOutage', limit({ onOutage: 'maybe' }), 'SLUICE_BAD_OPTION'],
    ['skip', options({ skip: '/health' }), 'SLUICE_BAD_OPTION'],
    ['refuse', options({ refuse: 429 }), 'SLUICE_BAD_OPTION'],
    ['onEvent', options({ onEvent: true }), 'SLUICE_BAD_OPTION'],
    ['allow', options({ allow: '10.0.0.0/8' }), 'SLUICE_BAD_OPTION'],
    ['deny', options({ deny: ['everybody'] }), 'SLUICE_BAD_OPTION'],
    ['headers', options({ headers: 'draft-1' }), 'SLUICE_BAD_OPTION'],
    ['trustProxy', options({ trustProxy: 'all' }), 'SLUICE_BAD_OPTION'],
    ['routes', options({ routes: '/a' }), 'SLUICE_BAD_OPTION'],
    ['store', options({ store: {} }), 'SLUICE_BAD_OPTION'],
    ['clock', options({ clock: {} }), 'SLUICE_BAD_CLOCK'],
    ['name', options({ name: 5 }), 'SLUICE_BAD_OPTION'],
    ['a route of nothing', () => createGuard({ policy: of(1) }).for('/a', undefined as Any), 'SLUICE_BAD_OPTION'],
    ['a route misspelt', () => createGuard({ policy: of(1) }).for('/a', { costs: 5 } as Any), 'SLUICE_BAD_OPTION'],
  ])('%s', (_name, make, code) => {
    expect(codeOf(make)).toBe(code)
  })

  test('and said plainly', () => {
    const own: GuardLimit = { policy: of(1), key: 'ip' as Any }
    expect(() => createGuard({ limits: { caller: own } })).toThrow(
      "expected limit 'caller' key as a function, got 'ip'",
    )
  })
})
