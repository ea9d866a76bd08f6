import {
  type Change,
  type Charge,
  type Clock,
  isTaken,
  type KeyInspection,
  KeyState,
  type Question,
  refusedOf,
  type Space,
  type Store,
  StoreTime,
} from 'sluice'

/** How many keys to check after each call, to forget idle ones. */
const KEYS_PER_SWEEP = 2

/** A store over one Map. It is responsible for the state of each key, atomicity, expiry and the clock. */
export function mapStore({ clock }: { clock: Clock }): MapStore {
  return new MapStore(clock)
}

export class MapStore implements Store<'sync'> {
  readonly mode = 'sync'
  readonly clock: Clock
  /** The state of each key of each limit. */
  private readonly states = new Map<string, KeyState>()
  /** The store's clock: it never runs backwards, whatever the clock it reads does. */
  private readonly time: StoreTime
  /** The position of the sweep. */
  private sweep = this.states.entries()

  constructor(clock: Clock) {
    this.time = new StoreTime(clock, () => {}) // called when the clock was set back by more than a second
    this.clock = this.time.clock
  }

  /** How many keys are kept now. */
  get size(): number {
    return this.states.size
  }

  /** A limit's handle. The path is what tells its keys from those of other limits. */
  bind(path: string): Space {
    return { path, localShare: 0.5 }
  }

  /**
   * Judges all charges before it takes any, and takes all or none. No other question comes between, because JavaScript
   * runs this function to its end. A store in a database needs a lock or a transaction here.
   */
  ask(question: Question): void {
    const { charges, intent } = question
    const now = this.time.read()
    for (const charge of charges) this.stateOf(charge).judge(charge, intent, now)
    const refused = refusedOf(charges)
    for (const charge of charges) {
      this.stateOf(charge).conclude(charge, isTaken(charge, charges, refused), intent, now)
    }
    this.forgetIdle(now)
    question.done()
  }

  /** Changes that no limit can refuse: refunds, releases, resets, blocks and more. */
  amend(changes: readonly Change[]): number[] {
    const now = this.time.read()
    return changes.map(change => this.stateOf(change.charge).change(change, now))
  }

  /** The stored state of a key, as data. */
  inspect(charge: Charge): KeyInspection {
    return this.stateOf(charge).inspect(charge, this.time.read())
  }

  close(): void {
    this.states.clear()
  }

  /** The state of a charge's key, made if there is none. Limits may use the same key, so the path belongs to it. */
  private stateOf({ limit, key }: Charge): KeyState {
    const place = JSON.stringify([limit.space.path, key])
    let state = this.states.get(place)
    if (state === undefined) {
      state = new KeyState()
      this.states.set(place, state)
    }
    return state
  }

  /** Looks at a few keys in turn, so that no question waits for all of them, and no timer is needed. */
  private forgetIdle(now: number): void {
    for (let i = 0; i < KEYS_PER_SWEEP; i++) {
      const next = this.sweep.next()
      if (next.done === true) {
        this.sweep = this.states.entries()
        return
      }
      const [place, state] = next.value
      if (state.isIdle(now)) this.states.delete(place)
    }
  }
}
