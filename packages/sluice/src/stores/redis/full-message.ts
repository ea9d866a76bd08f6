import { type Charge, ENFORCED } from '../charge.ts'
import { type Intent, TAKE } from '../store.ts'
import type { Framed } from './frame.ts'
import { newId } from './hold.ts'
import type { Item, Sent } from './item.ts'
import { type Keys, Specs } from './message.ts'
import type { Scripts } from './script.ts'
import { phaseOf } from './spec.ts'
import type { Asked } from './verdicts.ts'

/**
 * A call of anything that can be asked, as lua/decide.lua reads it. `now` is about the server's time: it matters to the
 * boundaries of calendar windows.
 */
export function fullMessage(scripts: Scripts, { logs, names }: Keys, items: readonly Item[], now: number): Framed {
  const specs = new Specs(now)
  let runs = ''
  /** How the run of plain decisions starts that the text now ends with. */
  let open = ''
  for (const item of items) {
    const run = isRun(item) ? runStart(item.charges, specs) : ''
    if (open !== '' && run !== open) runs += '],'
    if (run === '') runs += `${'change' in item ? changeText(item, specs) : decisionText(item as Asked, specs)},`
    else runs += `${run === open ? '' : run},${(item as Asked).keys.join()}`
    open = run
  }
  runs = open === '' ? runs.slice(0, -1) : `${runs}]`
  const args = [`{"logs":${logs.length},"specs":${specs.json},"runs":[${runs}]}`]
  return { script: scripts.decide, keys: names, args, amends: items.some(item => 'change' in item) }
}

/** Nothing to tell of it but its keys. */
function isRun(item: Item): item is Asked {
  return 'charges' in item && item.intent === TAKE && item.charges.every(canRun)
}

function canRun({ cost, role, rule }: Charge): boolean {
  if (cost !== 1 || role !== ENFORCED) return false
  return rule.kind !== 'slots' && (rule.kind !== 'fixed' || rule.policy.align !== 'key')
}

function runStart(charges: readonly Charge[], specs: Specs): string {
  let start = `[${charges.length}`
  for (const charge of charges) start += `,${specs.numberOf(charge)}`
  return start
}

/** One decision with all that can be told of it; what it would hold gets its ids now. */
function decisionText(asked: Asked, specs: Specs): string {
  const { charges, intent, keys } = asked
  asked.ids ??= charges.map(charge => (isHeld(charge, intent) ? newId() : 0))
  let text = `[0,${Number(intent.take)},${intent.holdTicks},${intent.bookTicks},${Number(intent.strikes)}`
  for (let i = 0; i < charges.length; i++) {
    const charge = charges[i]!
    text += `,${keys[i]},${specs.numberOf(charge)},${charge.cost},${charge.role},${asked.ids[i]},${phaseOf(charge)}`
  }
  return `${text}]`
}

function isHeld({ rule, limit }: Charge, { holdTicks }: Intent): boolean {
  return rule.kind === 'slots' || (holdTicks > 0 && limit.atOnce !== true)
}

function changeText({ change: { charge }, key, words: [what, ...numbers] }: Sent, specs: Specs): string {
  return JSON.stringify([what, key, specs.numberOf(charge), phaseOf(charge), ...numbers])
}
