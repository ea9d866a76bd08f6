import type { Rule } from '../../../algorithms/rule.ts'
import type { Charge } from '../../charge.ts'
import type { BlockRule } from '../../limit.ts'
import type { Intent, Question } from '../../store.ts'
import type { CallKey } from './call-keys.ts'
import { newId } from './hold.ts'
import { type BatchItem, chargesIn, type SentChange } from './item.ts'
import { phaseOf, specText } from './spec.ts'

/** The ids of the slots and reservations that each decision may take; 0 for other charges. */
export type HoldIds = Map<Question, readonly number[]>

/** The arguments for lua/decide.lua, for a call that does more than count. */
export function generalText(
  items: readonly BatchItem[],
  keys: readonly CallKey[],
  logs: number,
  ids: HoldIds,
  now: number,
): string {
  const specs = new LimitSpecs(now)
  let at = 0
  const texts = items.map(item => {
    const places = keys.slice(at, at + chargesIn(item)).map(({ place }) => place)
    at += places.length
    return 'change' in item ? changeText(item, places[0]!, specs) : decisionText(item, places, idsOf(item, ids), specs)
  })
  return `{"logs":${logs},"specs":${specs.json},"items":[${texts.join()}]}`
}

function decisionText(
  { charges, intent }: Question,
  places: readonly number[],
  ids: readonly number[],
  specs: LimitSpecs,
): string {
  let text = `[${Number(intent.take)},${intent.holdTicks},${intent.bookTicks},${Number(intent.strikes)}`
  for (const [i, charge] of charges.entries()) {
    text += `,${places[i]},${specs.numberOf(charge)},${charge.cost},${charge.role},${ids[i]},${phaseOf(charge)}`
  }
  return `${text}]`
}

/** Made when the call is first sent, and kept if it must be sent again. */
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

function changeText({ change: { charge }, words: [what, ...numbers] }: SentChange, place: number, specs: LimitSpecs) {
  return JSON.stringify([what, place, specs.numberOf(charge), phaseOf(charge), ...numbers])
}

/** The limits of a call, each once: their numbers as JSON. */
export class LimitSpecs {
  private readonly now: number
  private readonly texts: string[] = []
  private readonly numbers = new Map<Rule, Map<BlockRule | undefined, number>>()

  constructor(now: number) {
    this.now = now
  }

  /** The index of the charge's limit in the list, from 1. */
  numberOf({ rule, limit: { block } }: Charge): number {
    let byBlock = this.numbers.get(rule)
    if (byBlock === undefined) {
      byBlock = new Map()
      this.numbers.set(rule, byBlock)
    }
    let number = byBlock.get(block)
    if (number === undefined) {
      number = this.texts.push(specText(rule, block, this.now))
      byBlock.set(block, number)
    }
    return number
  }

  get json(): string {
    return `[${this.texts.join()}]`
  }
}
