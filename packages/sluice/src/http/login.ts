import type { PolicyLike } from '../policy.ts'
import type { Ended } from './ended.ts'
import { factsOf, type Seen } from './facts.ts'
import type { GuardLimit } from './guard-limit.ts'
import { ip as address, all, type Identity, username as typedName } from './identity.ts'
import { RecentKeys } from './recent-keys.ts'

export interface LoginOptions {
  /** Who asks: the client's address by default. */
  ip?: Identity
  /** The name they try: `r.body.username` or `r.body.email` by default. It must be there when the limiter runs. */
  username?: Identity
  /** Failures from one address at one name; each refusal then blocks the pair, longer each time. */
  pair?: PolicyLike
  /** Failures from one address, at whatever name. */
  perAddress?: PolicyLike
  /** Failures at one name, from wherever. Never a block: that would lock its owner out. */
  perUsername?: PolicyLike
  /** All failures together: what a guess spread over many addresses and names runs into. */
  total?: PolicyLike
  /** By default a 401 or 403. */
  failed?: (response: Ended, r: Seen) => boolean
  /** By default a status below 400. */
  succeeded?: (response: Ended, r: Seen) => boolean
}

/**
 * Limits for a login form: only failures count, and an attempt counts as one until its response says otherwise, so that
 * many tried at once are not more than many tried in turn.
 *
 * A sustained attack fills `perUsername` and `total`; those must not shut out the people who log in every day. So an
 * address from which that name (or, for `total`, any name) has logged in lately is not asked by them; the limits of its
 * own still hold, which bounds what somebody with one good account can try.
 */
export function loginLimits(options: LoginOptions = {}): Record<string, GuardLimit> {
  const { ip = address(), username = typedName(), failed = isFailure, succeeded = isSuccess } = options
  const { pair = '5/15m', perAddress = '100/1h', perUsername = '20/1h', total = '1000/10m' } = options
  const both = all(ip, username)
  const knownPairs = new RecentKeys(MOST_KNOWN)
  const knownAddresses = new RecentKeys(MOST_KNOWN)
  const remember = (response: Ended, r: Seen) => {
    if (!succeeded(response, r)) return false
    const facts = factsOf(r)
    knownPairs.add(both(facts))
    knownAddresses.add(ip(facts))
    return true
  }
  const counted = { countWhen: failed, quiet: true, onOutage: 'closed' } as const
  const blockFor = { first: '1m', factor: 2, max: '1d' } as const
  return {
    'login-pair': { ...counted, policy: pair, key: both, blockFor, resetWhen: remember },
    'login-address': { ...counted, policy: perAddress, key: ip, blockFor },
    'login-username': {
      ...counted,
      policy: perUsername,
      key: username,
      when: r => !knownPairs.has(both(factsOf(r))),
    },
    'login-total': { ...counted, policy: total, when: r => !knownAddresses.has(ip(factsOf(r))) },
  }
}

/** A name and an address of some 60 bytes each: about 20 MB at the most. */
const MOST_KNOWN = 100_000

function isFailure({ status }: Ended): boolean {
  return status === 401 || status === 403
}

function isSuccess({ status }: Ended): boolean {
  return status < 400
}
