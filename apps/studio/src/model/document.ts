import { ALGORITHMS, type Fields, LANE_KINDS, type LaneKind } from './policies.ts'

export interface Request {
  /** Milliseconds since the timeline began. */
  readonly at: number
  readonly caller: number
  readonly cost: number
}

export interface Lane {
  readonly kind: LaneKind
  readonly fields: Fields
  readonly shown: boolean
}

/** Everything a simulation is made of. The same document gives the same run. */
export interface Document {
  readonly lanes: readonly Lane[]
  /** In order of time. */
  readonly requests: readonly Request[]
  readonly now: number
  readonly callers: number
  readonly caller: number
  /** The addresses of an imported log, busiest first: the names of its callers. Empty without one. */
  readonly names: readonly string[]
  readonly cost: number
  /** How long a served request takes. A concurrency limit counts the requests that are under way. */
  readonly workMs: number
  /** How much of the timeline is visible at once. */
  readonly spanMs: number
}

/** The choices for `spanMs`, from half a minute to a week. */
export const SPANS_MS: readonly number[] = [30_000, 300_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000]

const FIRST_SHOWN: readonly LaneKind[] = [
  'tokenBucket',
  'shaping',
  'fixedWindow',
  'slidingWindow',
  'slidingLog',
  'concurrency',
]

export function newDocument(): Document {
  return {
    lanes: LANE_KINDS.map(kind => ({ kind, fields: ALGORITHMS[kind].fields, shown: FIRST_SHOWN.includes(kind) })),
    requests: [],
    now: 0,
    callers: 1,
    names: [],
    caller: 0,
    cost: 1,
    workMs: 2000,
    spanMs: SPANS_MS[0]!,
  }
}

/** The key by which a caller is counted. */
export function nameOf(caller: number): string {
  return `caller ${caller < 26 ? String.fromCharCode(65 + caller) : caller + 1}`
}

/** The caller's name on the page. */
export function nameOfCaller({ names }: Document, caller: number): string {
  return names[caller] ?? nameOf(caller)
}

export function withRequests(document: Document, added: readonly Request[]): Document {
  const requests = [...document.requests, ...added].sort((a, b) => a.at - b.at)
  const callers = added.reduce((most, { caller }) => Math.max(most, caller + 1), document.callers)
  return { ...document, requests, callers }
}

/** The states to undo to and to redo. Changes of the same field in a row are one step. */
export interface History {
  readonly past: readonly Document[]
  readonly present: Document
  readonly future: readonly Document[]
  readonly merge: string
}

const MOST_STEPS = 200

export function startHistory(present: Document): History {
  return { past: [], present, future: [], merge: '' }
}

export function change(history: History, present: Document, merge = ''): History {
  if (merge !== '' && merge === history.merge) return { ...history, present, future: [] }
  return { past: [...history.past.slice(-MOST_STEPS), history.present], present, future: [], merge }
}

export function undo(history: History): History {
  const present = history.past.at(-1)
  if (present === undefined) return history
  return { past: history.past.slice(0, -1), present, future: [history.present, ...history.future], merge: '' }
}

export function redo(history: History): History {
  const [present, ...future] = history.future
  if (present === undefined) return history
  return { past: [...history.past, history.present], present, future, merge: '' }
}
