import { type Charge, ENFORCED } from '../../charge.ts'
import { type Intent, type Question, TAKE } from '../../store.ts'
import type { ShardMessage } from './frame.ts'
import { newId } from './hold.ts'
import { type BatchItem, chargesIn, type SentChange } from './item.ts'
import { type CallKeys, LimitSpecs } from './message.ts'
import type { Scripts } from './script.ts'
import { phaseOf } from './spec.ts'

/** By decision, what the slots and reservations of its charges are called; 0 where it would be none. */
export type HoldIds = Map<Question, readonly number[]>

/**
 * A call of anything that can be asked, as lua/decide.lua reads it. `numbers` are those of the keys, charge by charge;
 * `now` is about the server's time: it matters to the boundaries of calendar windows.
 */
export function fullMessage(
  scripts: Scripts,
  { logs, names }: CallKeys,
  items: readonly BatchItem[],
  numbers: readonly number[],
  ids: HoldIds,
  now: number,
): ShardMessage {
  const specs = new LimitSpecs(now)
  let runs = ''
  /** How the run of plain decisions starts that the text now ends with. */
  let open = ''
  let place = 0
  for (const item of items) {
    const keys = numbers.slice(place, place + chargesIn(item))
    place += keys.length
    const run = isRun(item) ? runStart(item.charges, specs) : ''
    if (open !== '' && run !== open) runs += '],'
    if (run !== '') runs += `${run === open ? '' : run},${keys.join()}`
    else if ('change' in item) runs += `${changeText(item, keys[0]!, specs)},`
    else runs += `${decisionText(item, keys, idsOf(item, ids), specs)},`
    open = run
  }
  runs = open === '' ? runs.slice(0, -1) : `${runs}]`
  const args = [`{"logs":${logs.length},"specs":${specs.json},"runs":[${runs}]}`]
  return { script: scripts.decide, keys: names, args, amends: items.some(item => 'change' in item) }
}

/** Decided by its keys alone. */
function isRun(item: BatchItem): item is Question {
  return 'charges' in item && item.intent === TAKE && item.charges.every(canRun)
}

function canRun({ cost, role, rule }: Charge): boolean {
  if (cost !== 1 || role !== ENFORCED) return false
  return rule.kind !== 'slots' && (rule.kind !== 'fixed' || rule.policy.align !== 'key')
}

function runStart(charges: readonly Charge[], specs: LimitSpecs): string {
  let start = `[${charges.length}`
  for (const charge of charges) start += `,${specs.numberOf(charge)}`
  return start
}

/** One decision with all that can be told of it. */
function decisionText(
  { charges, intent }: Question,
  keys: readonly number[],
  ids: readonly number[],
  specs: LimitSpecs,
): string {
  let text = `[0,${Number(intent.take)},${intent.holdTicks},${intent.bookTicks},${Number(intent.strikes)}`
  for (let i = 0; i < charges.length; i++) {
    const charge = charges[i]!
    text += `,${keys[i]},${specs.numberOf(charge)},${charge.cost},${charge.role},${ids[i]},${phaseOf(charge)}`
  }
  return `${text}]`
}

/** Given when it is first sent, and the same if it must be sent again. */
function idsOf(asked: Question, known: HoldIds): readonly number[] {
  let ids = known.get(asked)
  if (ids === undefined) {
    ids = asked.charges.map(charge => (isHeld(charge, asked.intent) ? newId() : 0))
    known.set(asked, ids)
  }
  return ids
}

function isHeld({ rule, limit }: Charge, { holdTicks }: Intent): boolean {
  return rule.kind === 'slots' || (holdTicks > 0 && limit.atOnce !== true)
}

function changeText(
  { change: { charge }, words: [what, ...numbers] }: SentChange,
  key: number,
  specs: LimitSpecs,
): string {
  return JSON.stringify([what, key, specs.numberOf(charge), phaseOf(charge), ...numbers])
}
