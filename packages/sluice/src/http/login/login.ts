import { expected } from '../../errors.ts'
import type { PolicyLike } from '../../policy.ts'
import type { GuardLimit, ResponseEnd } from '../guard/guard-limit.ts'
import { yesOrNo } from '../guard/user-function.ts'
import { all, ip as clientAddress, Identity, username as typedName } from '../request/identity.ts'
import { factsOf, type RequestFacts, type RequestView } from '../request/request-facts.ts'
import { RecentKeys } from './recent-keys.ts'

export interface LoginOptions<R = RequestView> {
  /** Who asks: the client's address by default. */
  ip?: Identity<R>
  /** The name they try: `r.body.username` or `r.body.email` by default. It must be there when the limiter runs. */
  username?: Identity<R> | ((r: R) => unknown)
  /** Failures from one address at one name; each refusal then blocks the pair, longer each time. */
  pair?: PolicyLike
  /** Failures from one address, at whatever name. No block: an office is one address, and may log in all at once. */
  perAddress?: PolicyLike
  /** Failures at one name, from wherever. Never a block: that would lock its owner out. */
  perUsername?: PolicyLike
  /** All failures together: what a guess spread over many addresses and names runs into. */
  total?: PolicyLike
  /** By default a 401 or 403. */
  failed?: (response: ResponseEnd, r: R) => boolean
  /** By default a status below 400. What has failed has not succeeded, whatever this says. */
  succeeded?: (response: ResponseEnd, r: R) => boolean
}

const OPTIONS = ['ip', 'username', 'pair', 'perAddress', 'perUsername', 'total', 'failed', 'succeeded']

/**
 * Limits for a login form: only failures count, and an attempt counts as one until its response says otherwise, so that
 * many tried at once are not more than many tried in turn.
 *
 * A sustained attack fills the limits of addresses, of names and of all; those must not shut out the people who log in
 * every day. So to a name that has logged in from the same address lately the first two do not apply, and `total` is for
 * two crowds, each by itself: addresses from which anybody has logged in lately, and all others. Strangers cannot fill what
 * is for the known. Who is known is what this process has seen since it started.
 */
export function loginLimits<R extends RequestView = RequestView>(
  options: LoginOptions<R> = {},
): Record<string, GuardLimit<R>> {
  const odd = Object.keys(options).find(option => !OPTIONS.includes(option))
  if (odd !== undefined) throw expected('SLUICE_BAD_OPTION', `loginLimits({ ${OPTIONS.join(', ')} })`, odd)
  const { ip = clientAddress(), username = typedName(), succeeded = isSuccess } = options
  const { pair = '5/15m', perAddress = '100/1h', perUsername = '20/1h', total = '1000/10m' } = options
  // Hanging up before the answer is a failure, too: a guess would be free otherwise.
  const failed: NonNullable<LoginOptions<R>['failed']> = (response, r) =>
    response.aborted || (options.failed ?? isFailure)(response, r)
  const [address, name] = [addressOf(ip), nameOf(username)]
  const attemptOf = attempts(address, name)
  const knownPairs = new RecentKeys(MOST_KNOWN)
  const knownAddresses = new RecentKeys(MOST_KNOWN)
  const isKnownPair = (r: R) => knownPairs.has(attemptOf(r).pair)
  const isKnownAddress = (r: R) => knownAddresses.has(attemptOf(r).address)
  const remember = (response: ResponseEnd, r: R) => {
    if (yesOrNo('failed', failed(response, r)) || !yesOrNo('succeeded', succeeded(response, r))) return false
    knownPairs.add(attemptOf(r).pair)
    knownAddresses.add(attemptOf(r).address)
    return true
  }
  /** Read once a request; an operator may name them as the helpers have them. */
  const keyed = (part: keyof Attempt, { form }: Identity<R>) =>
    new Identity<R>(facts => attemptOf(facts.view)[part], form)
  const counted = { countWhen: failed, quiet: true, onOutage: 'closed' } as const
  const blockFor = { first: '1m', factor: 2, max: '1d' } as const
  const stranger = { when: (r: R) => !isKnownPair(r) }
  return {
    'login-pair': { ...counted, policy: pair, key: keyed('pair', all(address, name)), blockFor, resetWhen: remember },
    'login-address': { ...counted, ...stranger, policy: perAddress, key: keyed('address', address) },
    'login-username': { ...counted, ...stranger, policy: perUsername, key: keyed('name', name) },
    'login-total': { ...counted, policy: total, when: r => !isKnownAddress(r) },
    'login-total-known': { ...counted, policy: total, when: isKnownAddress },
  }
}

/** A name and an address of some 60 bytes each: about 20 MB at the most. */
const MOST_KNOWN = 100_000

/** Who tries which name. */
interface Attempt {
  readonly address: string
  readonly name: string
  readonly pair: string
}

/** Read once a request, so that who is remembered is who was asked. */
function attempts<R>(address: Identity<R>, name: Identity<R>): (r: R) => Attempt {
  const both = all(address, name)
  const known = new WeakMap<RequestFacts<R>, Attempt>()
  return r => {
    const facts = factsOf(r)
    let attempt = known.get(facts)
    if (attempt === undefined) {
      attempt = { address: address.keyOf(facts), name: name.keyOf(facts), pair: both.keyOf(facts) }
      known.set(facts, attempt)
    }
    return attempt
  }
}

function addressOf<R>(ip: Identity<R>): Identity<R> {
  if (ip instanceof Identity) return ip
  throw expected('SLUICE_BAD_OPTION', 'loginLimits() ip as an identity helper such as ip()', ip)
}

function nameOf<R>(username: Identity<R> | ((r: R) => unknown)): Identity<R> {
  if (username instanceof Identity) return username
  // As a function of the request it would find no name in any, and all would be one.
  if ((username as unknown) !== typedName) return typedName(username)
  throw expected('SLUICE_BAD_OPTION', 'loginLimits() username as username() or a function of the request', username)
}

function isFailure({ status }: ResponseEnd): boolean {
  return status === 401 || status === 403
}

function isSuccess({ status }: ResponseEnd): boolean {
  return status < 400
}
