import type { ConfigNode } from '../config-node.ts'
import { type Condition, readConditions } from './conditions.ts'

/** One entry of `allow` or `deny`: an address, a range of addresses, or attributes that must all match. */
export type AccessEntry = string | readonly Condition[]

export function readAccessList(node: ConfigNode): AccessEntry[] | undefined {
  const items = node.items('a list of addresses, ranges of them, or maps of attributes')
  return items?.map(readEntry).filter(entry => entry !== undefined)
}

function readEntry(node: ConfigNode): AccessEntry | undefined {
  if (typeof node.value === 'object' && node.value !== null) return readConditions(node)
  return node.text("an address range such as '10.0.0.0/8', or attributes such as { user: mallory }")
}
