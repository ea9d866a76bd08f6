import { nearestName } from '../../check-options.ts'
import { expected } from '../../errors.ts'
import type { Attributes } from './attributes.ts'
import { isPlans } from './limit.ts'
import type { Rules } from './rules.ts'

/** Attributes that every HTTP request has. The decision endpoint sends them whether or not a limit needs them. */
const OF_REQUESTS = ['ip', 'method', 'route', 'host', 'proto']

/** Every attribute that rules name, and those of requests. */
export function namedAttributes({ limits, attributes, allow, deny }: Rules): ReadonlySet<string> {
  const names = new Set([...OF_REQUESTS, ...attributes])
  for (const entry of [...allow, ...deny]) {
    if (typeof entry !== 'string') for (const { attribute } of entry) names.add(attribute)
  }
  for (const { key, when, cost, policy } of limits) {
    for (const attribute of key) names.add(attribute)
    for (const { attribute } of when) names.add(attribute)
    if (typeof cost === 'string') names.add(cost)
    if (isPlans(policy)) names.add(policy.by)
  }
  return names
}

/**
 * Refuses a subject with an attribute that no rule names: if the name is misspelt, its limit would not apply. `beside`
 * lists the names that the caller has already taken out of the subject, so that the error can suggest them too.
 */
export function checkAttributes(subject: Attributes, named: ReadonlySet<string>, beside: readonly string[] = []): void {
  for (const name of Object.keys(subject)) {
    if (named.has(name)) continue
    const meant = nearestName(name, [...named, ...beside])
    const others = `named are ${[...named].join(', ')}; to send it all the same, list it under attributes in the rules`
    throw expected(
      'SLUICE_BAD_KEY',
      'attributes that the rules name',
      name,
      meant === undefined ? others : `write ${meant}`,
    )
  }
}
