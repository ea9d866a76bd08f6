import { createLimiter, type Decision, type Limiter, type LimitInspection, type Policy, slidingLog } from 'sluice'
import { type FakeClock, fakeClock } from 'sluice/testing'
import { type Document, type Lane, nameOf, type Request } from './document.ts'
import { envelopeOf, type LaneKind, policyOf } from './policies.ts'
import { reasonOf } from './reason.ts'

/** The timeline's zero: a whole hour, so that windows begin at round times. */
export const EPOCH = 1_800_000_000_000

export const SERVED = 1
const REFUSED = 2

/** One algorithm on the timeline: a limiter of the library and its decisions. */
export class LaneRun {
  readonly kind: LaneKind
  readonly policy: Policy
  readonly limiter: Limiter<string, 'sync'>
  /** For each request: SERVED, REFUSED, or 0 before it has come. */
  readonly outcomes: Uint8Array
  /** For each request: when its work starts. Later than its arrival only if requests are queued. */
  readonly starts: Float64Array
  readonly refusals: { readonly at: number; readonly text: string }[] = []
  /** Requests decided; `served` and `refused` are in units of cost. */
  decided = 0
  served = 0
  refused = 0
  worst = 0
  errors = 0
  /** How long a full queue takes to drain; 0 if nothing is queued. */
  readonly queueMs: number
  private readonly exact: Limiter<string, 'sync'> | undefined
  private readonly windowMs: number
  private readonly recent = new Map<number, { at: number; cost: number }[]>()

  constructor(kind: LaneKind, policy: Policy, clock: FakeClock, size: number) {
    const envelope = envelopeOf(policy)
    this.kind = kind
    this.policy = policy
    this.limiter = createLimiter(policy, { clock })
    this.exact =
      envelope === undefined
        ? undefined
        : createLimiter(slidingLog({ limit: envelope.limit, window: `${envelope.windowMs}ms` }), { clock })
    this.windowMs = envelope?.windowMs ?? 0
    this.queueMs = kind === 'shaping' ? this.windowMs : 0
    this.outcomes = new Uint8Array(size)
    this.starts = new Float64Array(size)
  }

  inspect(caller: number): LimitInspection {
    return this.limiter.inspect(nameOf(caller))[0]!
  }

  take(request: Request, index: number, clock: FakeClock, workMs: number): void {
    const who = nameOf(request.caller)
    const { cost } = request
    const before = this.limiter.inspect(who)[0]!
    const decision = this.limiter.consume(who, { cost })
    const start =
      this.kind === 'shaping' && before.state.kind === 'bucket' ? Math.max(before.at, before.state.tat) : before.at
    this.decided++
    this.outcomes[index] = decision.allowed ? SERVED : REFUSED
    this.starts[index] = decision.allowed ? start - EPOCH : request.at
    if (decision.allowed) this.countServed(decision, request, start - EPOCH, clock, workMs)
    else {
      this.refused += cost
      this.refusals.push({ at: request.at, text: reasonOf(before, decision, cost) })
    }
    if (this.exact !== undefined && this.exact.consume(who, { cost }).allowed !== decision.allowed) this.errors++
  }

  bytes(callers: number): number {
    let sum = 0
    for (let caller = 0; caller < callers; caller++) sum += this.inspect(caller).bytes
    return sum
  }

  private countServed(
    decision: Decision,
    { caller, cost }: Request,
    start: number,
    clock: FakeClock,
    workMs: number,
  ): void {
    this.served += cost
    if (this.kind === 'concurrency') {
      clock.after(workMs, () => decision.release())
      this.worst = Math.max(this.worst, this.inspect(caller).used)
      return
    }
    const recent = this.recent.get(caller) ?? []
    recent.push({ at: start, cost })
    while (recent[0]!.at <= start - this.windowMs) recent.shift()
    this.recent.set(caller, recent)
    this.worst = Math.max(
      this.worst,
      recent.reduce((sum, entry) => sum + entry.cost, 0),
    )
  }
}

/** All lanes of a document, with its requests decided up to now. Time only goes forward; to go back, make a new run. */
export class Run {
  readonly lanes: ReadonlyMap<LaneKind, LaneRun>
  readonly requests: readonly Request[]
  /** How many of the requests have come. */
  done = 0
  private readonly clock = fakeClock(EPOCH)
  private readonly workMs: number

  constructor({ lanes, requests, workMs }: Document) {
    this.requests = requests
    this.workMs = workMs
    const made = lanes.filter(lane => lane.shown).map(lane => this.laneOf(lane))
    this.lanes = new Map(made.filter(lane => lane !== undefined).map(lane => [lane.kind, lane]))
  }

  get now(): number {
    return this.clock.now() - EPOCH
  }

  /** Lets time pass until `ms`, and decides the requests that come by then. */
  advanceTo(ms: number): void {
    for (; this.done < this.requests.length && this.requests[this.done]!.at <= ms; this.done++) {
      const request = this.requests[this.done]!
      this.goTo(request.at)
      for (const lane of this.lanes.values()) lane.take(request, this.done, this.clock, this.workMs)
    }
    this.goTo(ms)
  }

  private goTo(ms: number): void {
    this.clock.advance(Math.max(0, ms - this.now))
  }

  private laneOf({ kind, fields }: Lane): LaneRun | undefined {
    const { policy } = policyOf(kind, fields)
    return policy === undefined ? undefined : new LaneRun(kind, policy, this.clock, this.requests.length)
  }
}
