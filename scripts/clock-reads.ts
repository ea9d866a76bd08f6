import type { Node } from './syntax.ts'
import { isNode, walk } from './syntax.ts'

const GLOBALS = ['globalThis', 'window', 'self']
const TIMERS = ['setTimeout', 'setInterval', 'setImmediate']
const TIMELESS_DATE_MEMBERS = ['UTC', 'parse', 'prototype']

/** Where a program reads the machine's time or starts a timer: which name it uses, and where. */
export function clockReads(program: Node): { what: string; start: number }[] {
  const found: { what: string; start: number }[] = []
  walk(program, (node, parent, field) => {
    if (node.type !== 'Identifier' || parent === null) return
    const name = node.name as string
    // `hrtime` counts on any object: nothing else has that name.
    if (name === 'hrtime') found.push({ what: name, start: node.start })
    if (!refersToGlobal(parent, field)) return
    if (TIMERS.includes(name) || name === 'performance') found.push({ what: name, start: node.start })
    if (name === 'Date' && !isTimeless(parent, field)) found.push({ what: 'Date', start: node.start })
  })
  return found
}

/** False for a key, a type, and a member of another object, such as `clock.setTimeout`. */
function refersToGlobal(parent: Node, field: string): boolean {
  if (parent.type === 'MemberExpression' && field === 'property' && parent.computed !== true) {
    const { object } = parent
    return isNode(object) && GLOBALS.includes(object.name as string)
  }
  if (field === 'key') return parent.computed === true
  return !parent.type.startsWith('TS') || field === 'expression'
}

/** `new Date(ms)`, `Date.UTC(…)` and `x instanceof Date` only use a time they are given. Any other use may read the clock. */
function isTimeless(parent: Node, field: string): boolean {
  if (parent.type === 'NewExpression') return field === 'callee' && (parent.arguments as unknown[]).length > 0
  if (parent.type === 'BinaryExpression') return parent.operator === 'instanceof'
  if (parent.type !== 'MemberExpression' || field !== 'object') return false
  return isNode(parent.property) && TIMELESS_DATE_MEMBERS.includes(parent.property.name as string)
}
