import type { LimitDescription } from './service.ts'

export interface Attribute {
  readonly name: string
  readonly value: string
}

const USUAL: Readonly<Record<string, string>> = { ip: '203.0.113.7', user: '42' }

/** The attributes that rules read, each with a value by which their limits apply. */
export function attributesOf(limits: readonly LimitDescription[]): readonly Attribute[] {
  const values = new Map<string, string>()
  const read = (name: string, value: string) => {
    if (!values.get(name)) values.set(name, value)
  }
  for (const { key, when, by, cost, policy } of limits) {
    for (const name of key) read(name, USUAL[name] ?? '')
    if (by !== undefined) read(by, Object.keys(policy)[0] ?? '')
    // `/api/*` stands for every path below.
    for (const [name, [first = '']] of Object.entries(when)) read(name, first.replace(/\*$/, ''))
    if (typeof cost === 'string') read(cost, '1')
  }
  for (const [name, value] of values) if (value === '') values.set(name, `some ${name}`)
  return [...values].map(([name, value]) => ({ name, value }))
}
