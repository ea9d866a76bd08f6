import { StoreUnavailable } from '../../errors.ts'
import type { Change } from '../store.ts'
import { type Call, Keys, type Message, Specs } from './call.ts'
import { holdOf } from './hold.ts'
import type { Reply, Scripts } from './script.ts'
import { calendarEndOf, phaseOf } from './spec.ts'

/** A change on its way: what to send of it, and what to make of the answer. */
interface Sent {
  readonly change: Change
  readonly done: (amount: number) => void
  readonly failed: (error: StoreUnavailable) => void
}

const UNKNOWN = -1
const FOREIGN = -3
const MOST_CHANGES = 128

/** A batch of changes of one shard. See lua/amend.lua. */
export class AmendCall implements Call {
  private readonly scripts: Scripts
  private readonly keys: Keys
  private readonly sent: Sent[] = []
  private readonly changes: (readonly (string | number)[])[] = []

  constructor(scripts: Scripts, tagOf: (key: string) => number) {
    this.scripts = scripts
    this.keys = new Keys(tagOf)
  }

  get isFull(): boolean {
    return this.sent.length >= MOST_CHANGES
  }

  /** A change is worth doing even if nobody waits for it: what was taken goes back. */
  get abandoned(): boolean {
    return false
  }

  /** Nothing is sent for what is known to be over: then `done` is called at once. */
  add(sent: Sent): void {
    const over = overAlready(sent.change)
    if (over !== undefined) {
      sent.done(over)
      return
    }
    this.sent.push(sent)
    this.changes.push(wordsOf(sent.change))
  }

  get isEmpty(): boolean {
    return this.sent.length === 0
  }

  message(now: number): Message {
    const specs = new Specs(now)
    const changes = this.sent.map(({ change: { charge } }, i) => {
      const [what, ...numbers] = this.changes[i]!
      return [what, this.keys.numberOf(charge), specs.numberOf(charge), phaseOf(charge), ...numbers]
    })
    const { logs, names } = this.keys
    const args = [`{"logs":${logs.length},"specs":${specs.json},"changes":${JSON.stringify(changes)}}`]
    return { script: this.scripts.amend, keys: names, args }
  }

  read(reply: Reply): void {
    for (const [i, { change, done, failed }] of this.sent.entries()) {
      const amount = reply.at(i + 1)
      if (amount === FOREIGN) failed(new StoreUnavailable('SLUICE_FOREIGN_VALUE', 'a foreign value stands at the key'))
      else done(concluded(change, amount, reply.at(0)))
    }
  }

  fail(error: StoreUnavailable): void {
    for (const { failed } of this.sent) failed(error)
  }
}

/** The answer to a change that has nothing to change, and undefined where the server must be asked. */
function overAlready(change: Change): number | undefined {
  const { charge, type } = change
  const hold = holdOf(charge)
  if (type === 'refund' || type === 'unbook') {
    if (!charge.taken) return 0
  }
  const byId = type === 'release' || type === 'renew'
  if (byId && hold === undefined) return 0
  return byId || type === 'settle' ? hold?.ended : undefined
}

/** What amend.lua is told of a change: the word, its cost, and what else it needs. */
function wordsOf(change: Change): (string | number)[] {
  const { charge } = change
  const hold = holdOf(charge)
  switch (change.type) {
    case 'refund': {
      const resets = charge.receipt - 1
      charge.receipt = 0
      if (hold !== undefined) return charge.rule.kind === 'slots' ? ['release', 0, hold.id] : ['settle', 0, hold.id, 0]
      // A booking was but a promise until its start.
      const at = Math.max(charge.at, charge.retryAt)
      return ['refund', charge.cost, at, resets, calendarEndOf(charge.rule, at)]
    }
    case 'credit':
      return ['credit', charge.cost]
    case 'unbook':
      charge.receipt = 0
      return ['credit', charge.cost]
    case 'release':
    case 'renew':
      return [change.type, 0, hold!.id]
    case 'settle':
      return ['settle', 0, hold!.id, change.actual]
    case 'reset':
      return ['reset', 0]
    case 'block':
      return ['block', 0, change.ticks]
  }
}

/** What the answer means: a reservation that is not there any more has expired, or was forgotten by a reset. */
function concluded(change: Change, amount: number, now: number): number {
  const hold = holdOf(change.charge)
  const ends = change.type === 'settle' || change.type === 'release' || change.type === 'refund'
  if (hold === undefined || !ends) return amount
  if (change.charge.rule.kind === 'slots') {
    hold.ended = 0 // a slot is released once: later calls answer 0
    return amount
  }
  hold.ended ??= amount !== UNKNOWN ? amount : now >= hold.expiry ? hold.cost : 0
  return hold.ended
}
