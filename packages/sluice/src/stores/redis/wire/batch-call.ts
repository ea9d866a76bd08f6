import type { StoreUnavailable } from '../../../errors.ts'
import type { Question } from '../../store.ts'
import { type CallKey, CallKeys, type OrderedKeys } from './call-keys.ts'
import { allPassed, countingArgs, onlyCounts, readPassed } from './counting.ts'
import { type BatchItem, chargesIn, conclude, failItem } from './item.ts'
import { generalText, type HoldIds } from './message.ts'
import type { Message, ScriptReply, Scripts } from './script.ts'
import { rareFacts, readVerdicts } from './verdicts.ts'

/** The most items in a call. At this size the server works on one call while this process writes the next. */
export const MOST_ITEMS = 64
/** Lua can unpack about 8,000 values at once. */
const MOST_KEYS = 1000

/** What one shard was asked in one round of the event loop, in order: decisions and changes. See lua/decide.lua. */
export class BatchCall {
  private readonly scripts: Scripts
  private readonly keys: CallKeys
  private items: BatchItem[] = []
  /** The charges, item by item. */
  private chargedKeys: CallKey[] = []
  private readonly onLate: () => void
  /** True if every item only counts. */
  private onlyCounts = true
  private readonly holdIds: HoldIds = new Map()
  /** The call as last sent, if it was sent in the short form. */
  private counted: OrderedKeys | undefined

  constructor(scripts: Scripts, tagOf: (key: string) => number, onLate: () => void) {
    this.scripts = scripts
    this.keys = new CallKeys(tagOf)
    this.onLate = onLate
    this.counted = undefined
  }

  get isEmpty(): boolean {
    return this.items.length === 0
  }

  get isFull(): boolean {
    return this.items.length >= MOST_ITEMS || this.keys.count >= MOST_KEYS
  }

  /** Whether every caller has stopped waiting. Changes are sent all the same, so that refunds are not lost. */
  get abandoned(): boolean {
    return this.items.every(item => 'charges' in item && item.charges.every(charge => charge.fault !== undefined))
  }

  /** Fails the decisions and keeps the changes. */
  failDecisions(error: StoreUnavailable): void {
    for (const item of this.items) if ('charges' in item) failItem(item, error)
    const changes = this.items.filter(item => 'change' in item)
    this.items = changes
    this.chargedKeys = changes.map(({ change }) => this.keys.keyOf(change.charge))
  }

  /** Throws if a name would be longer than a string can be; then the item is not added. */
  add(item: BatchItem): void {
    const before = this.chargedKeys.length
    try {
      if ('change' in item) this.chargedKeys.push(this.keys.keyOf(item.change.charge))
      else for (const charge of item.charges) this.chargedKeys.push(this.keys.keyOf(charge))
    } catch (error) {
      this.chargedKeys.length = before
      throw error
    }
    this.items.push(item)
    if (this.onlyCounts && ('change' in item || !onlyCounts(item))) this.onlyCounts = false
  }

  /** `now` is about the server's time. It matters only for the boundaries of calendar windows. */
  message(now: number): Message {
    const { keys, items, chargedKeys } = this
    const ordered = keys.inOrder()
    this.counted = this.onlyCounts && !keys.isMixed ? ordered : undefined
    const args = this.counted
      ? countingArgs(items as readonly Question[], chargedKeys, ordered)
      : [generalText(items, chargedKeys, ordered.logs, this.holdIds, now)]
    return { script: this.scripts.decide, keys: ordered.names, args }
  }

  /** Changes that seem to have come too late are sent again; decisions are not. */
  get hasChanges(): boolean {
    return !this.onlyCounts && this.items.some(item => 'change' in item)
  }

  read(reply: ScriptReply): void {
    if (this.counted !== undefined && allPassed(reply, this.counted)) {
      readPassed(reply, this.items as readonly Question[], this.chargedKeys, this.counted, this.onLate)
      return
    }
    const rare = rareFacts(reply, 1 + 3 * this.chargedKeys.length)
    let place = 0
    for (const item of this.items) {
      const at = place
      place += chargesIn(item)
      if ('change' in item) {
        conclude(item, reply.at(1 + 3 * at), reply.at(0))
        continue
      }
      if (readVerdicts(item, this.holdIds.get(item), reply, at, rare)) this.onLate()
      item.done()
    }
  }

  fail(error: StoreUnavailable): void {
    for (const item of this.items) failItem(item, error)
  }
}
