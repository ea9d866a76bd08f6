import {
  concurrency,
  type Duration,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  type RateText,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'sluice'

/** A lane's algorithm. Shaping is a leaky bucket, too: it delays the requests that policing serves at once. */
export type LaneKind =
  | 'tokenBucket'
  | 'leakyBucket'
  | 'shaping'
  | 'gcra'
  | 'fixedWindow'
  | 'slidingWindow'
  | 'slidingLog'
  | 'concurrency'

/** What a user types, field by field. The library says whether it is a policy. */
export type Fields = Readonly<Record<string, string>>

interface Algorithm {
  readonly title: string
  readonly says: string
  readonly fields: Fields
  readonly make: (fields: Fields) => Policy
}

const duration = (text: string | undefined) => text as Duration
const rate = (text: string | undefined) => text as RateText
const count = (text: string | undefined) => (text === undefined || text.trim() === '' ? Number.NaN : Number(text))

export const ALGORITHMS: Readonly<Record<LaneKind, Algorithm>> = {
  tokenBucket: {
    title: 'Token bucket',
    says: 'Saves up what is not used, and spends it in bursts.',
    fields: { capacity: '10', refill: '1/s' },
    make: f => tokenBucket({ capacity: count(f.capacity), refill: rate(f.refill) }),
  },
  leakyBucket: {
    title: 'Leaky bucket, policing',
    says: 'Serves while the water fits; it drains at a steady rate.',
    fields: { capacity: '10', leak: '1/s' },
    make: f => leakyBucket({ capacity: count(f.capacity), leak: rate(f.leak) }),
  },
  shaping: {
    title: 'Leaky bucket, shaping',
    says: 'Queues the burst and starts one request at a time.',
    fields: { capacity: '10', leak: '1/s' },
    make: f => leakyBucket({ capacity: count(f.capacity), leak: rate(f.leak) }),
  },
  gcra: {
    title: 'GCRA',
    says: 'One number: the time at which the caller is square again.',
    fields: { rate: '1/s', burst: '10' },
    make: f => gcra({ rate: rate(f.rate), burst: count(f.burst) }),
  },
  fixedWindow: {
    title: 'Fixed window',
    says: 'Counts from boundary to boundary, then starts again.',
    fields: { limit: '10', window: '10s', align: 'epoch' },
    make: f =>
      fixedWindow({
        limit: count(f.limit),
        window: duration(f.window),
        ...(f.align === undefined ? {} : { align: f.align as 'epoch' }),
      }),
  },
  slidingWindow: {
    title: 'Sliding counter',
    says: 'Weighs the window before by how much of it is still in sight.',
    fields: { limit: '10', window: '10s', buckets: '1' },
    make: f => slidingWindow({ limit: count(f.limit), window: duration(f.window), buckets: count(f.buckets) }),
  },
  slidingLog: {
    title: 'Sliding log',
    says: 'Remembers every request. Exact, and it pays in bytes.',
    fields: { limit: '10', window: '10s' },
    make: f => slidingLog({ limit: count(f.limit), window: duration(f.window) }),
  },
  concurrency: {
    title: 'Concurrency',
    says: 'Counts what is under way, not what was asked.',
    fields: { limit: '4', ttl: '10s' },
    make: f => concurrency({ limit: count(f.limit), ttl: duration(f.ttl) }),
  },
}

export const LANE_KINDS = Object.keys(ALGORITHMS) as LaneKind[]

export type Made =
  | { readonly policy: Policy; readonly error?: never }
  | { readonly error: string; readonly policy?: never }

/** The policy, or the library's error about it. */
export function policyOf(kind: LaneKind, fields: Fields): Made {
  try {
    return { policy: ALGORITHMS[kind].make(fields) }
  } catch (error) {
    return { error: (error as Error).message.replace(/ \[(\w+), see .*\]$/, ' ($1)') }
  }
}

/** The count and span by which a lane is compared with the exact log. A concurrency limit has no span. */
export function envelopeOf(policy: Policy): { limit: number; windowMs: number } | undefined {
  switch (policy.kind) {
    case 'tokenBucket':
      return spanOf(policy.capacity, policy.refill)
    case 'leakyBucket':
      return spanOf(policy.capacity, policy.leak)
    case 'gcra':
      return spanOf(policy.burst, policy.rate)
    case 'concurrency':
      return undefined
    default:
      return { limit: policy.limit, windowMs: policy.windowMs }
  }
}

function spanOf(limit: number, rate: { count: number; periodMs: number }) {
  return { limit, windowMs: Math.max(1, Math.round((limit * rate.periodMs) / rate.count)) }
}

export function limitOf(policy: Policy): number {
  if (policy.kind === 'gcra') return policy.burst
  return 'capacity' in policy ? policy.capacity : policy.limit
}

/** The policy as code: `tokenBucket({ capacity: 10, refill: '1/s' })`. */
export function codeOf(kind: LaneKind, fields: Fields): string {
  const name = kind === 'shaping' ? 'leakyBucket' : kind
  const options = Object.entries(fields)
    .filter(([field, value]) => !isDefault(field, value))
    .map(([field, value]) => `${field}: ${/^\d+$/.test(value) ? value : `'${value}'`}`)
  return `${name}({ ${options.join(', ')} })`
}

export function yamlOf(kind: LaneKind, fields: Fields): string {
  const name = (kind === 'shaping' ? 'leakyBucket' : kind).replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
  const options = Object.entries(fields)
    .filter(([field, value]) => !isDefault(field, value))
    .map(([field, value]) => `${field}: ${value}`)
  return `${name}: { ${options.join(', ')} }`
}

function isDefault(field: string, value: string): boolean {
  return (field === 'buckets' && value === '1') || (field === 'align' && value === 'epoch')
}
