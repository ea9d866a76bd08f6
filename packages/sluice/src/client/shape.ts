import { checkFunction, checkOptions } from '../check-options.ts'
import { type Clock, systemClock } from '../clock.ts'
import { type Duration, parseDuration } from '../duration.ts'
import { expected } from '../errors.ts'
import type { ChargedDecision } from '../limiter/charged-decision.ts'
import { noticed } from '../limiter/create.ts'
import type { LimiterOptions } from '../limiter/limiter.ts'
import { NamedLimiter } from '../limiter/named-limiter.ts'
import { Waiter } from '../limiter/waiting/waiter.ts'
import type { PolicyLike } from '../policy.ts'
import { CallRefused, tooLong } from './call-refused.ts'
import { PriorityQueue } from './priority-queue.ts'

export interface ShapeOptions {
  /**
   * `leakyBucket({ capacity: 500, leak: '14/s' })` starts one call every 1/14 s. A function chooses by how many calls wait, so
   * that a long queue may drain faster.
   */
  policy: PolicyLike | ((depth: number) => PolicyLike)
  /** Shares the policy with other processes: `redisStore(client)`. Every call of every process gets its own slot. */
  store?: NonNullable<LimiterOptions['store']>
  /** Keeps this policy's state apart from that of others in the same store. `'shape'` by default. */
  name?: string
  /** How many calls may run at once in this process. No bound of its own by default. */
  concurrency?: number
  /** How many calls may wait in this process. 10,000 by default; a further one is refused. */
  maxBacklog?: number
  /** How long a call may wait; unbounded by default. A call that would wait longer is refused at once. */
  maxWait?: Duration
  /** Called when four fifths of the backlog are full, and again when it has fallen to a half. */
  onPressure?: (pressure: { readonly high: boolean; readonly depth: number }) => void
  clock?: Clock
}

export interface CallOptions {
  /** Calls of a higher priority start first; those of one priority in order. 0 by default. */
  priority?: number
  /** An abort before the start gives the slot back. */
  signal?: AbortSignal
}

/** A function whose calls start when the policy allows it. */
export interface Shaped<A extends unknown[], R> {
  (...args: A): Promise<R>
  /** The same function for calls with a priority or a signal. */
  with(options: CallOptions): (...args: A) => Promise<R>
  /** How many calls wait. */
  readonly depth: number
  /** How many calls run. */
  readonly running: number
  /** Takes no more calls, and resolves when the last call has ended. */
  drain(): Promise<void>
  /** Takes no more calls, and refuses those that wait. */
  close(): Promise<void>
}

/** The options of many calls, which the caller can change no more. */
interface KeptOptions {
  readonly priority: number
  readonly signal: AbortSignal | undefined
}

/** A call that waits to start. Very many may, so it is kept small: `resolve` is all it keeps of its promise. */
class ShapedCall {
  readonly shaper: Shaper
  /** When the call came; 0 if it may wait for ever. */
  readonly since: number
  slot: Slot
  private readonly args: unknown[]
  private readonly options: KeptOptions
  private readonly resolve: (value: unknown) => void

  constructor(shaper: Shaper, args: unknown[], options: KeptOptions, resolve: (value: unknown) => void) {
    this.shaper = shaper
    this.since = shaper.maxWaitMs < Infinity ? shaper.clock.now() : 0
    this.slot = new Slot(this)
    this.args = args
    this.options = options
    this.resolve = resolve
    options.signal?.addEventListener('abort', this)
  }

  get priority(): number {
    return this.options.priority
  }

  /** The signal was aborted: cancels the call. */
  handleEvent(): void {
    this.shaper.leave(this)
    this.fail(this.options.signal!.reason)
  }

  start(): Promise<unknown> {
    this.options.signal?.removeEventListener('abort', this)
    const run = new Promise(resolve => resolve(this.shaper.run(this.args)))
    this.resolve(run)
    return run
  }

  fail(reason: unknown): void {
    this.options.signal?.removeEventListener('abort', this)
    this.resolve(Promise.reject(reason))
  }
}

/** A start that a call waits for. Its owner may change: when the time comes, the first call in the queue takes it. */
class Slot extends Waiter {
  owner: ShapedCall | undefined
  /** The call that booked this start. The start is before the end of its `maxWait`. */
  readonly booker: ShapedCall

  constructor(booker: ShapedCall) {
    super()
    this.owner = booker
    this.booker = booker
  }

  // In a microtask, as a promise would: the user's function must not run in the middle of the limiter's work.
  decided(decision: ChargedDecision): void {
    queueMicrotask(() => this.booker.shaper.decided(this, decision))
  }

  failed(reason: unknown): void {
    queueMicrotask(() => this.booker.shaper.refuse(this, reason))
  }
}

/** The one subject of a limit without a key. */
const EVERYBODY = {}
const HIGH = 0.8
const LOW = 0.5

/** Makes calls of `fn` wait for their turn: `shape(sendEmail, { policy: leakyBucket({ capacity: 500, leak: '14/s' }) })`. */
export function shape<A extends unknown[], R>(fn: (...args: A) => R | Promise<R>, options: ShapeOptions): Shaped<A, R> {
  if (typeof fn !== 'function') throw expected('SLUICE_BAD_OPTION', 'a function to shape', fn)
  const shaper = new Shaper(args => fn(...(args as A)), options)
  const withOptions = (own: CallOptions) => {
    const { priority = 0, signal } = checkOptions('with', own, ['priority', 'signal'])
    const kept = { priority, signal }
    return (...args: A): Promise<R> => shaper.call(args, kept) as Promise<R>
  }
  const shaped = withOptions({})
  return Object.defineProperties(shaped, {
    with: { value: withOptions },
    depth: { get: () => shaper.depth },
    running: { get: () => shaper.running },
    drain: { value: () => shaper.drain() },
    close: { value: () => shaper.close() },
  }) as Shaped<A, R>
}

const KNOWN = ['policy', 'store', 'name', 'concurrency', 'maxBacklog', 'maxWait', 'onPressure', 'clock']

class Shaper {
  running = 0
  readonly run: (args: unknown[]) => unknown
  private readonly limiter: NamedLimiter<object>
  readonly clock: Clock
  private readonly queue = new PriorityQueue<ShapedCall>()
  private readonly concurrency: number
  private readonly maxBacklog: number
  readonly maxWaitMs: number
  private readonly waitOptions: { maxWait?: Duration }
  private readonly onPressure: ShapeOptions['onPressure']
  /** Slots whose time came while `concurrency` calls were running. */
  private ready = 0
  private isHigh = false
  private isClosed = false
  private drained: { promise: Promise<void>; resolve: () => void } | undefined

  constructor(run: (args: unknown[]) => unknown, given: ShapeOptions) {
    this.run = run
    const options = checkOptions('shape', given, KNOWN)
    const { policy, store, name = 'shape', clock = systemClock, maxWait } = options
    const { concurrency = Infinity, maxBacklog = 10_000, onPressure } = options
    if (onPressure !== undefined) checkFunction('onPressure', onPressure)
    for (const [option, value] of Object.entries({ concurrency, maxBacklog })) {
      const isCount = value === Infinity || (Number.isSafeInteger(value) && value >= 1)
      if (!isCount) throw expected('SLUICE_BAD_OPTION', `${option} as a whole number, 1 or more`, value)
    }
    this.clock = clock
    this.concurrency = concurrency
    this.maxBacklog = maxBacklog
    this.maxWaitMs = maxWait === undefined ? Infinity : parseDuration(maxWait, 'maxWait')
    this.waitOptions = maxWait === undefined ? {} : { maxWait }
    this.onPressure = onPressure
    const chosen = typeof policy === 'function' ? () => policy(this.depth) : policy
    const limits = { default: { policy: chosen } }
    const limiter = new NamedLimiter<object>({ name, clock, ...(store && { store }) }, limits, false)
    this.limiter = noticed(limiter)
  }

  get depth(): number {
    return this.queue.size
  }

  call(args: unknown[], options: KeptOptions): Promise<unknown> {
    return new Promise(resolve => {
      const { priority, signal } = options
      signal?.throwIfAborted()
      if (!Number.isFinite(priority)) throw expected('SLUICE_BAD_OPTION', 'priority as a number', priority)
      if (this.isClosed || this.drained !== undefined) throw backlogFull('no more calls are taken')
      if (this.depth >= this.maxBacklog) throw backlogFull(`${this.maxBacklog} calls wait already`)
      const call = new ShapedCall(this, args, options, resolve)
      this.limiter.enter(call.slot, EVERYBODY, this.waitOptions)
      this.queue.push(call)
      this.afterGrowth()
    })
  }

  /** The call was cancelled before it started: gives its slot back. */
  leave(call: ShapedCall): void {
    this.queue.delete(call)
    call.slot.owner = undefined
    call.slot.abort(undefined)
    this.afterShrink()
  }

  drain(): Promise<void> {
    if (this.drained === undefined) {
      let resolve = () => {}
      const promise = new Promise<void>(done => {
        resolve = done
      })
      this.drained = { promise, resolve }
      this.finish()
    }
    return this.drained.promise
  }

  async close(): Promise<void> {
    this.isClosed = true
    for (let call = this.queue.shift(); call !== undefined; call = this.queue.shift()) {
      call.fail(backlogFull('closed while the call waited'))
    }
    this.finish()
    await this.limiter.close()
  }

  decided(slot: Slot, decision: ChargedDecision): void {
    if (decision.allowed) this.onSlot(slot)
    else this.refuse(slot, this.refusal(decision.retryAfterMs))
  }

  private refusal(retryAfterMs: number): CallRefused {
    if (this.maxWaitMs < Infinity) return tooLong(retryAfterMs)
    return new CallRefused('SLUICE_BACKLOG_FULL', 'the queue of the policy is full', retryAfterMs)
  }

  /** The slot was refused, so the call that owns it is refused too. */
  refuse({ owner }: Slot, reason: unknown): void {
    if (owner === undefined || !this.queue.delete(owner)) return
    owner.fail(reason)
    this.afterShrink()
  }

  private onSlot(slot: Slot): void {
    const { owner } = slot
    slot.owner = undefined
    this.ready++
    const first = this.startNext(slot.booker)
    // Another call started in this slot, so its former owner takes over the slot of that call.
    if (owner === undefined || first === undefined || first === owner) return
    first.slot.owner = owner
    owner.slot = first.slot
  }

  /** `booker` is never refused as too old: its slot was in time, even if the timer rings a moment late. */
  private startNext(booker?: ShapedCall): ShapedCall | undefined {
    if (this.ready === 0 || this.running >= this.concurrency) return undefined
    const call = this.next(booker)
    this.ready = call === undefined ? 0 : this.ready - 1
    if (call === undefined) return undefined
    this.running++
    this.afterShrink()
    const ended = () => {
      this.running--
      this.startNext()
      this.finish()
    }
    void call.start().then(ended, ended)
    return call
  }

  /** The first call that is not too old. Refuses each call that calls of higher priority kept waiting too long. */
  private next(booker: ShapedCall | undefined): ShapedCall | undefined {
    for (let call = this.queue.shift(); call !== undefined; call = this.queue.shift()) {
      const ageMs = this.clock.now() - call.since
      if (call === booker || ageMs <= this.maxWaitMs) return call
      call.fail(tooLong(0))
    }
    return undefined
  }

  private afterGrowth(): void {
    if (this.isHigh || this.depth < HIGH * this.maxBacklog) return
    this.isHigh = true
    this.onPressure?.({ high: true, depth: this.depth })
  }

  private afterShrink(): void {
    if (this.isHigh && this.depth <= LOW * this.maxBacklog) {
      this.isHigh = false
      this.onPressure?.({ high: false, depth: this.depth })
    }
    this.finish()
  }

  private finish(): void {
    if (this.running === 0 && this.depth === 0) this.drained?.resolve()
  }
}

function backlogFull(message: string): CallRefused {
  return new CallRefused('SLUICE_BACKLOG_FULL', message, Infinity)
}
