import type { LaneKind } from '../model/policies.ts'

export interface Question {
  readonly id: keyof Answers
  readonly asks: string
  readonly options: readonly { readonly value: string; readonly says: string; readonly why: string }[]
}

export interface Answers {
  readonly traffic: string
  readonly precision: string
  readonly downstream: string
  readonly caller: string
  readonly layer: string
  readonly outage: string
}

export const QUESTIONS: readonly Question[] = [
  {
    id: 'traffic',
    asks: 'Do clients burst?',
    options: [
      {
        value: 'bursts',
        says: 'Yes: pages, batches, apps waking up',
        why: 'A token bucket lets a burst pass that was saved up for, and still bounds the long run.',
      },
      {
        value: 'steady',
        says: 'No, or they should not',
        why: 'GCRA with a small burst spaces requests out, for one number a key.',
      },
      {
        value: 'quota',
        says: 'It is a quota: so many a day or month',
        why: 'A fixed window is what a contract means by a quota, and it resets when people expect it.',
      },
      {
        value: 'long',
        says: 'Requests are few but take long',
        why: 'What matters is how many are under way at once: a concurrency limit counts just that.',
      },
    ],
  },
  {
    id: 'precision',
    asks: 'Exact or approximate, and how many keys?',
    options: [
      {
        value: 'approximate',
        says: 'A few per cent are fine, millions of keys',
        why: 'A few numbers a key are enough, however high the limit.',
      },
      {
        value: 'exact',
        says: 'Exact to the request, few keys or low limits',
        why: 'The sliding log remembers every request: no window of that length ever holds more than the limit.',
      },
    ],
  },
  {
    id: 'downstream',
    asks: 'What stands downstream?',
    options: [
      {
        value: 'robust',
        says: 'Something that takes bursts',
        why: 'Refusing at once is cheapest, and the client learns when to come back.',
      },
      {
        value: 'fragile',
        says: 'Something fragile: a database, a partner API',
        why: 'A leaky bucket with wait() starts requests one by one, so the downstream sees a straight line.',
      },
    ],
  },
  {
    id: 'caller',
    asks: 'Who is the caller?',
    options: [
      { value: 'user', says: 'A signed-in user', why: 'Counting by user is fair behind shared addresses.' },
      {
        value: 'key',
        says: 'An API key',
        why: 'The key is the contract; where it is missing, the address is counted instead.',
      },
      {
        value: 'tenant',
        says: 'A tenant with many users',
        why: 'One limit for the tenant keeps it from starving the others.',
      },
      {
        value: 'address',
        says: 'Nobody in particular: the address',
        why: 'An address is all there is before sign-in; IPv6 callers are counted by their network.',
      },
    ],
  },
  {
    id: 'layer',
    asks: 'Where does it stand?',
    options: [
      {
        value: 'application',
        says: 'In the application',
        why: 'The application knows the user, the plan and the cost.',
      },
      {
        value: 'gateway',
        says: 'In a gateway: Envoy, nginx',
        why: 'The service answers the gateway, so that refused requests never reach the application.',
      },
    ],
  },
  {
    id: 'outage',
    asks: 'When the store is down?',
    options: [
      {
        value: 'local',
        says: 'Keep limiting in each process',
        why: 'Each process enforces half of the limit by itself until the store is back.',
      },
      { value: 'open', says: 'Serve everybody', why: 'The service stays up, unlimited, while the store is away.' },
      {
        value: 'closed',
        says: 'Refuse',
        why: 'Right where an unlimited minute is worse than an outage: logins, payments.',
      },
    ],
  },
]

export const FIRST_ANSWERS: Answers = {
  traffic: 'bursts',
  precision: 'approximate',
  downstream: 'robust',
  caller: 'user',
  layer: 'application',
  outage: 'local',
}

export interface Advice {
  readonly kind: LaneKind
  readonly fields: Readonly<Record<string, string>>
  /** The name of the key in rules and code. */
  readonly attribute: string
  readonly reasons: readonly string[]
}

export function adviceFor(answers: Answers): Advice {
  const reasons = QUESTIONS.map(({ id, options }) => options.find(({ value }) => value === answers[id])!.why)
  const attribute = { user: 'user', key: 'apiKey', tenant: 'tenant', address: 'ip' }[answers.caller] ?? 'ip'
  return { ...policyFor(answers), attribute, reasons }
}

function policyFor({ traffic, precision, downstream }: Answers): Pick<Advice, 'kind' | 'fields'> {
  if (traffic === 'long') return { kind: 'concurrency', fields: { limit: '10', ttl: '30s' } }
  if (downstream === 'fragile') return { kind: 'shaping', fields: { capacity: '20', leak: '5/s' } }
  if (traffic === 'quota') return { kind: 'fixedWindow', fields: { limit: '1000', window: '1d' } }
  if (precision === 'exact') return { kind: 'slidingLog', fields: { limit: '100', window: '1m' } }
  if (traffic === 'steady') return { kind: 'gcra', fields: { rate: '10/s', burst: '3' } }
  return { kind: 'tokenBucket', fields: { capacity: '100', refill: '10/s' } }
}
