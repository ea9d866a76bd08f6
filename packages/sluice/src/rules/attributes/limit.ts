import type { LimitMode, LimitOptions } from '../../limiter/limits.ts'
import { NamedLimiter } from '../../limiter/named-limiter.ts'
import type { OnOutage } from '../../limiter/outage/on-outage.ts'
import type { Policy } from '../../policy.ts'
import type { ConfigNode } from '../config-node.ts'
import { checkOnOutage, readOnOutage } from '../on-outage.ts'
import { type Condition, readConditions } from './conditions.ts'
import { type RulePlans, readPlans } from './plans.ts'
import { ALGORITHM_NAMES, readPolicy } from './policies.ts'

/** One limit of a rules file, checked. */
export interface RuleLimit {
  readonly name: string
  /** Requests with equal values of these attributes are counted together. Without attributes, all requests are. */
  readonly key: readonly string[]
  /** All conditions must hold. */
  readonly when: readonly Condition[]
  readonly policy: Policy | RulePlans
  /** A number, or the attribute that has it. Without it, the cost of the call. */
  readonly cost: number | string | undefined
  readonly mode: LimitMode
  readonly replaces: string | undefined
  readonly onOutage: OnOutage
  readonly blockFor: LimitOptions<never>['blockFor']
  /** Refusals do not reveal this limit: for logins, where the counts would help an attacker guess. */
  readonly quiet: boolean
}

export function isPlans(policy: Policy | RulePlans): policy is RulePlans {
  return 'policies' in policy
}

const MEMBERS = ['key', 'when', 'cost', 'mode', 'replaces', 'on_outage', 'block_for', 'quiet', 'plans'] as const
const POLICY_NAMES = [...ALGORITHM_NAMES, 'plans']
const MODES = ['enforce', 'shadow', 'off'] as const
const OFF_ADVICE = "YAML of old reads off as false: write 'off'"

export function readLimit(name: string, node: ConfigNode): RuleLimit | undefined {
  if (name === '') return node.wrongName('a limit with a name')
  const members = node.members('a limit as a map', [...MEMBERS, ...ALGORITHM_NAMES])
  if (members === undefined) return undefined
  /** Reads the value under a name; returns the default if it is absent or invalid. */
  const read = <T>(member: (typeof MEMBERS)[number], reader: (node: ConfigNode) => T | undefined, otherwise: T): T => {
    const found = members.get(member)
    return (found && reader(found)) ?? otherwise
  }
  const limit = {
    name,
    key: read('key', readKey, []),
    when: read('when', readConditions, []),
    cost: read<number | string | undefined>('cost', readCost, undefined),
    mode: read('mode', mode => mode.oneOf(MODES, mode.value === false ? OFF_ADVICE : undefined), 'enforce'),
    replaces: read<string | undefined>('replaces', replaces => replaces.text('the name of another limit'), undefined),
    onOutage: read<OnOutage>('on_outage', readOnOutage, 'local'),
    blockFor: read('block_for', block => readBlock(block, name), undefined),
    quiet: read('quiet', quiet => quiet.flag('true or false'), false),
  }
  const policy = readPolicyOf(node, members)
  if (policy === undefined) return undefined
  const outage = members.get('on_outage')
  if (outage) checkOnOutage(outage, name, limit.onOutage, isPlans(policy) ? policy.strictest : policy)
  return { ...limit, policy }
}

function readPolicyOf(node: ConfigNode, members: ReadonlyMap<string, ConfigNode>): Policy | RulePlans | undefined {
  const named = POLICY_NAMES.filter(name => members.has(name))
  const [name, ...others] = named
  if (name === undefined) {
    // `members` has reported any unknown name. It is most likely a misspelt policy, so do not report that as well.
    const misspelt = members.size < Object.keys(node.value as object).length
    return misspelt ? undefined : node.wrong(`a limit with one of ${POLICY_NAMES.join(', ')}`)
  }
  if (others.length > 0) {
    return members.get(others[0]!)!.wrongName(`one policy beside ${name}`, 'make a second limit: both will apply')
  }
  const member = members.get(name)!
  return name === 'plans' ? readPlans(member) : readPolicy(name, member)
}

function readKey(node: ConfigNode): string[] | undefined {
  const what = 'an attribute, or a list of them'
  const nodes = Array.isArray(node.value) ? node.items(what) : [node]
  const key = nodes?.flatMap(part => part.text(what) ?? [])
  if (key !== undefined && new Set(key).size < key.length) return node.wrong('each attribute once')
  return key
}

function readCost(node: ConfigNode): number | string | undefined {
  const { value } = node
  if (typeof value === 'string' && value !== '') return value
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value
  return node.wrong(
    'a whole number, 1 or more, or the attribute that says it',
    value === 0 ? 'to count nothing, set mode: off' : undefined,
    'SLUICE_BAD_COST',
  )
}

function readBlock(node: ConfigNode, limit: string): RuleLimit['blockFor'] {
  const blockFor = node.value as NonNullable<RuleLimit['blockFor']>
  // The limiter checks the block options itself.
  const tried = node.attempt(() => new NamedLimiter({}, { [limit]: { policy: '1/s', blockFor } }, false))
  return tried && blockFor
}
