import { checkOptions } from '../../check-options.ts'
import { expected } from '../../errors.ts'
import { yesOrNo } from '../../lookup.ts'
import type { PolicyLike } from '../../policy.ts'
import type { GuardLimit, ResponseEnd } from '../guard/guard-limit.ts'
import { all, ip as clientAddress, Identity } from '../request/identity.ts'
import { username as typedName } from '../request/known-caller.ts'
import { factsOf, type RequestFacts, type RequestView } from '../request/request-facts.ts'
import { RecentKeys } from './recent-keys.ts'

export interface LoginOptions<R = RequestView> {
  /** The address to count by: the client's by default. */
  ip?: Identity<R>
  /**
   * The user name of the attempt: `r.body.username` or `r.body.email` by default. Parse the body before the limiter
   * runs.
   */
  username?: Identity<R> | ((r: R) => unknown)
  /** Failures from one address for one name. Each refusal blocks the pair, longer each time. */
  pair?: PolicyLike
  /** Failures from one address, for all names. It never blocks: a whole office may log in from one address at once. */
  perAddress?: PolicyLike
  /** Failures for one name, from all addresses. It never blocks, which would lock the owner of the name out. */
  perUsername?: PolicyLike
  /** All failures together. This stops guesses that are spread over many addresses and names. */
  total?: PolicyLike
  /** Whether the login failed: by default a status of 401 or 403. */
  failed?: (response: ResponseEnd, r: R) => boolean
  /** Whether the login succeeded: by default a status below 400. Not asked if `failed` returns true. */
  succeeded?: (response: ResponseEnd, r: R) => boolean
}

const OPTIONS = ['ip', 'username', 'pair', 'perAddress', 'perUsername', 'total', 'failed', 'succeeded']

/**
 * Limits for a login form. Only failures count. An attempt counts as a failure until its response says otherwise, so
 * that guesses sent in parallel get no more tries than guesses sent one by one.
 *
 * A sustained attack fills `perAddress`, `perUsername` and `total`, which must not shut out regular users. So
 * `perAddress` and `perUsername` do not apply to a name that has logged in from the same address lately. `total` counts
 * addresses with a recent login apart from all other addresses, so strangers cannot use up what is for known addresses.
 * Each process remembers the logins it has seen since it started.
 */
export function loginLimits<R extends RequestView = RequestView>(
  given: LoginOptions<R> = {},
): Record<string, GuardLimit<R>> {
  const options = checkOptions('loginLimits', given, OPTIONS)
  const { ip = clientAddress(), username = typedName(), succeeded = isSuccess } = options
  const { pair = '5/15m', perAddress = '100/1h', perUsername = '20/1h', total = '1000/10m' } = options
  // A client that hangs up before the response counts as a failure; otherwise its guess would be free.
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
  /** Takes the key from the attempt, which is read once per request. Operators write it in the helper's form. */
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

/** About 20 MB at most, with names and addresses of about 60 bytes each. */
const MOST_KNOWN = 100_000

/** The keys of one login attempt. */
interface Attempt {
  readonly address: string
  readonly name: string
  readonly pair: string
}

/** Reads the keys once per request, so that a login is remembered under the keys that were checked. */
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
  // With the helper itself, `username: username` instead of `username()`, all requests would share one key.
  if ((username as unknown) !== typedName) return typedName(username)
  throw expected('SLUICE_BAD_OPTION', 'loginLimits() username as username() or a function of the request', username)
}

function isFailure({ status }: ResponseEnd): boolean {
  return status === 401 || status === 403
}

function isSuccess({ status }: ResponseEnd): boolean {
  return status < 400
}
