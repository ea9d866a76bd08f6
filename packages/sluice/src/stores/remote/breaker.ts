import { afterUnref, type Clock } from '../../clock.ts'
import { StoreUnavailable } from '../../errors.ts'
import type { StoreEvent } from './remote-store.ts'

/** What a breaker needs of the store around it. */
export interface BreakerPanel {
  readonly clock: Clock
  readonly random: () => number
  /** Resolves when the shard has answered in time. */
  probe(shard: number): Promise<void>
  /** Told after every change of state. */
  changed(event: StoreEvent): void
}

/** One lost connection may fail a hundred calls of one turn. Only faults in more turns than this are an outage. */
const MOST_FAULTY_TURNS = 2
const PROBE_EVERY_MS = 250

/**
 * Decides whether one shard is worth asking.
 *
 *              a deadline passes in silence,
 *            or faults in three turns in a row
 *    closed ───────────────────────────────────▶ open ──┐
 *      ▲                                          │ ▲    │ a probe fails:
 *      └──────────── a probe succeeds ────────────┘ └────┘ the next in about 250 ms
 *
 * A turn is one round of the event loop, and turns have numbers. Calls of one turn are sent together.
 */
export class Breaker {
  private readonly shard: number
  private readonly panel: BreakerPanel
  /** Why the shard must not be asked; undefined while the breaker is closed. */
  reason: StoreUnavailable | undefined
  private openedAt = 0
  /** The last turn whose calls had been sent when the shard last answered. */
  private answeredIn = 0
  private faultyTurns = 0
  private lastFaultyTurn = 0
  private cancelProbe: (() => void) | undefined
  private stopped = false

  constructor(shard: number, panel: BreakerPanel) {
    this.shard = shard
    this.panel = panel
  }

  /** The shard has answered. All calls up to that turn had been sent by then. */
  answered(sent: number): void {
    this.answeredIn = sent
    this.faultyTurns = 0
  }

  /** A call of that turn came back undecided. */
  failed(turn: number, error: StoreUnavailable): void {
    if (turn === this.lastFaultyTurn) return
    this.lastFaultyTurn = turn
    if (++this.faultyTurns > MOST_FAULTY_TURNS) this.open(error)
  }

  /** A call of that turn missed its deadline. A shard that has answered other calls since is slow, not gone. */
  missed(turn: number, error: StoreUnavailable): void {
    if (this.answeredIn < turn) this.open(error)
  }

  open(error: StoreUnavailable): void {
    if (this.reason !== undefined || this.stopped) return
    const { shard, panel } = this
    const message = `shard ${shard} of the store is not asked until a probe gets through, after: ${error.message}`
    this.reason = new StoreUnavailable('SLUICE_STORE_UNREACHABLE', message, error)
    this.openedAt = panel.clock.now()
    this.probeSoon()
    panel.changed({ type: 'outage', shard, error })
  }

  stop(): void {
    this.stopped = true
    this.cancelProbe?.()
  }

  /** The delay is random, so that not all processes probe a returning store at the same moment. */
  private probeSoon(): void {
    const { clock, random } = this.panel
    this.cancelProbe = afterUnref(clock, PROBE_EVERY_MS * (0.5 + random()), () => {
      this.panel.probe(this.shard).then(
        () => this.close(),
        () => this.stopped || this.probeSoon(),
      )
    })
  }

  private close(): void {
    if (this.stopped) return
    const { shard, panel } = this
    this.reason = undefined
    this.faultyTurns = 0
    panel.changed({ type: 'recovered', shard, outageMs: panel.clock.now() - this.openedAt })
  }
}
