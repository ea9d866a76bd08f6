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

/** All that a simulation is made of. The same document gives the same run. */
export interface Document {
  readonly lanes: readonly Lane[]
  /** In order of time. */
  readonly requests: readonly Request[]
  readonly now: number
  readonly callers: number
  readonly caller: number
  readonly cost: number
  /** How long a served request is under way: what a concurrency limit counts. */
  readonly workMs: number
}

const FIRST_SHOWN: readonly LaneKind[] = ['tokenBucket', 'shaping', 'fixedWindow', 'slidingWindow', 'slidingLog']

export function newDocument(): Document {
  return {
    lanes: LANE_KINDS.map(kind => ({ kind, fields: ALGORITHMS[kind].fields, shown: FIRST_SHOWN.includes(kind) })),
    requests: [],
    now: 0,
    callers: 1,
    caller: 0,
    cost: 1,
    workMs: 2000,
  }
}

export function withRequests(document: Document, added: readonly Request[]): Document {
  const requests = [...document.requests, ...added].sort((a, b) => a.at - b.at)
  const callers = added.reduce((most, { caller }) => Math.max(most, caller + 1), document.callers)
  return { ...document, requests, callers }
}

/** A past to go back to and a future to come again; changes of the same field in a row are one step. */
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
