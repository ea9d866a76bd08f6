import { type Document, type Lane, newDocument, type Request, SPANS_MS } from './document.ts'
import { ALGORITHMS, LANE_KINDS, type LaneKind } from './policies.ts'

/**
 * A document as the query of an address: only what differs from a new document. Requests are stored as differences;
 * those of an imported log are left out.
 */
export function addressOf(given: Document): string {
  const fresh = newDocument()
  const { requests, callers, caller } = fresh
  const document = given.names.length === 0 ? given : { ...given, requests, callers, caller }
  const parameters = new URLSearchParams()
  for (const [i, lane] of document.lanes.entries()) {
    if (lane.shown === fresh.lanes[i]!.shown && sameFields(lane, fresh.lanes[i]!)) continue
    const fields = Object.entries(lane.fields).map(([field, value]) => `${field}=${value}`)
    parameters.append(lane.kind, [lane.shown ? 'on' : 'off', ...fields].join(';'))
  }
  if (document.requests.length > 0) parameters.set('r', packed(document.requests))
  for (const name of NUMBERS) if (document[name] !== fresh[name]) parameters.set(name, String(document[name]))
  return parameters.toString()
}

const NUMBERS = ['now', 'callers', 'caller', 'cost', 'workMs', 'spanMs'] as const
const MOST_REQUESTS = 20_000
export const MOST_COST = 1000
/** The most callers, since more colours could not be told apart. An imported log may have more. */
export const MOST_CALLERS = 8

/** Reads the document of an address. Parts that cannot be read stay as in a new document. */
export function documentOf(address: string): Document {
  const parameters = new URLSearchParams(address)
  const fresh = newDocument()
  const numbers = Object.fromEntries(NUMBERS.map(name => [name, numberOf(parameters.get(name), fresh[name])])) as Pick<
    Document,
    (typeof NUMBERS)[number]
  >
  const requests = unpacked(parameters.get('r') ?? '').filter(({ caller }) => caller < MOST_CALLERS)
  const given = Math.min(MOST_CALLERS, Math.max(1, Math.round(numbers.callers)))
  const callers = requests.reduce((most, { caller }) => Math.max(most, caller + 1), given)
  return {
    ...fresh,
    ...numbers,
    callers,
    caller: Math.min(callers - 1, Math.round(numbers.caller)),
    cost: Math.min(MOST_COST, Math.round(numbers.cost)),
    spanMs: SPANS_MS.includes(numbers.spanMs) ? numbers.spanMs : fresh.spanMs,
    lanes: fresh.lanes.map(lane => laneOf(lane, parameters.get(lane.kind))),
    requests,
  }
}

/** A link into the simulator with these lanes alone. */
export function addressOfLanes(lanes: readonly { kind: LaneKind; fields: Record<string, string> }[]): string {
  const given = new Map(lanes.map(lane => [lane.kind, lane.fields]))
  return addressOf({
    ...newDocument(),
    lanes: LANE_KINDS.map(kind => ({
      kind,
      shown: given.has(kind),
      fields: { ...ALGORITHMS[kind].fields, ...given.get(kind) },
    })),
  })
}

function sameFields(a: Lane, b: Lane): boolean {
  return Object.entries(a.fields).every(([field, value]) => b.fields[field] === value)
}

function laneOf(lane: Lane, text: string | null): Lane {
  if (text === null) return lane
  const [shown, ...pairs] = text.split(';')
  const given = Object.fromEntries(
    pairs.map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
  const fields = Object.fromEntries(
    Object.entries(lane.fields).map(([field, value]) => [field, Object.hasOwn(given, field) ? given[field]! : value]),
  )
  return { ...lane, shown: shown === 'on', fields }
}

function numberOf(text: string | null, otherwise: number): number {
  const value = text === null ? Number.NaN : Number(text)
  return Number.isFinite(value) && value >= 0 && value < 1e12 ? value : otherwise
}

/** Each request is the milliseconds since the one before, in base 36, with `.caller` and `*cost` where they are not 0 and 1; `~n` repeats it. */
function packed(requests: readonly Request[]): string {
  const words: string[] = []
  let before = 0
  let repeats = 1
  for (const { at, caller, cost } of requests) {
    const gap = Math.round(at - before).toString(36)
    const word = `${gap}${caller === 0 ? '' : `.${caller}`}${cost === 1 ? '' : `*${cost}`}`
    before = Math.round(at)
    if (words.at(-1) === word) repeats++
    else {
      if (repeats > 1) words.push(`~${repeats}`)
      repeats = 1
      words.push(word)
    }
  }
  if (repeats > 1) words.push(`~${repeats}`)
  return words.join('_')
}

function unpacked(text: string): Request[] {
  const requests: Request[] = []
  let at = 0
  let last: { gap: number; caller: number; cost: number } | undefined
  for (const word of text.split('_')) {
    const times = word.startsWith('~') ? Number(word.slice(1)) - 1 : 1
    const read = /^([0-9a-z]+)(?:\.(\d+))?(?:\*(\d+))?$/.exec(word)
    if (read !== null)
      last = {
        gap: Number.parseInt(read[1]!, 36),
        caller: Number(read[2] ?? 0),
        cost: Math.min(MOST_COST, Number(read[3] ?? 1)),
      }
    else if (!word.startsWith('~')) continue
    for (let i = 0; i < times && last !== undefined && requests.length < MOST_REQUESTS; i++) {
      at += last.gap
      requests.push({ at, caller: last.caller, cost: last.cost })
    }
  }
  return requests
}
