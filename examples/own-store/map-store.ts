import {
  type BlockRule,
  bucketData,
  type Change,
  Charge,
  type Clock,
  ENFORCED,
  fixedData,
  HOLDS_PLAYED,
  heldCosts,
  type Intent,
  isTaken,
  type KeyInspection,
  kernels,
  type Limit,
  type LimitData,
  logData,
  MOST_HOLDS,
  type Question,
  type Rule,
  refusedOf,
  type Space,
  type Store,
  StoreTime,
  slidingData,
  slotsData,
  stableHash,
} from 'sluice'

const { bucket, fixed, sliding, log, slots } = kernels

/** What is counted of one key under one kind of policy: a thin coat over the kernels, which do the arithmetic. */
class Count {
  rule: Rule
  /** A bucket's level as of `at`, or the count of a window until `endAt`. */
  counted = 0
  at = 0
  endAt = 0
  private saved = { counted: 0, endAt: 0 }
  cells: number[]
  ring = new log.Ring()
  queue = new slots.Slots()

  constructor(rule: Rule) {
    this.rule = rule
    this.cells = rule.kind === 'sliding' ? new Array<number>(sliding.cellCount(rule)).fill(0) : []
  }

  load(rule: Rule, key: string, now: number): this {
    if (rule.kind === 'bucket' && this.rule.kind === 'bucket') {
      const level = bucket.drained(this.counted, this.at, this.rule, now)
      this.counted = rule.shape === this.rule.shape ? level : bucket.converted(level, this.rule, rule)
      this.at = Math.max(this.at, now)
    } else if (rule.kind === 'fixed') {
      const isOpen = now < this.saved.endAt
      this.counted = isOpen ? this.saved.counted : 0
      this.endAt = isOpen ? this.saved.endAt : rule.endAfter(now, phaseOf(rule, key))
    } else if (rule.kind === 'log') log.expire(this.ring, rule, now)
    else if (rule.kind === 'slots') this.queue.expire(now)
    this.rule = rule
    return this
  }

  judge(charge: Charge, cost: number, now: number): void {
    const { rule } = charge
    if (rule.kind === 'bucket') bucket.decide(this.counted, rule, now, cost, charge)
    else if (rule.kind === 'fixed') fixed.decide(this.counted, this.endAt, rule, cost, charge)
    else if (rule.kind === 'sliding') sliding.decide(this.cells, 0, rule, now, cost, charge)
    else if (rule.kind === 'log') log.decide(this.ring, rule, cost, charge)
    else slots.decide(this.queue, rule, cost, charge)
  }

  take(charge: Charge, cost: number, now: number): void {
    const { rule } = charge
    if (rule.kind === 'bucket') this.counted = bucket.add(this.counted, rule, cost)
    else if (rule.kind === 'fixed') this.save(this.counted + cost)
    else if (rule.kind === 'sliding') sliding.add(this.cells, 0, rule, now, cost)
    else if (rule.kind === 'log') this.ring.push(now, cost, rule.limit)
    else charge.hold = this.queue.acquire(cost, now + rule.ttlTicks)
  }

  describe(charge: Charge, now: number): void {
    const { rule } = charge
    if (rule.kind === 'bucket') bucket.describe(this.counted, rule, now, charge)
    else if (rule.kind === 'fixed') fixed.describe(this.counted, this.endAt, now, charge)
    else if (rule.kind === 'sliding') sliding.describe(this.cells, 0, rule, now, charge)
    else if (rule.kind === 'log') log.describe(this.ring, rule, now, charge)
    else slots.describe(this.queue, now, charge)
  }

  refund({ rule, key, cost }: Charge, now: number, chargedAt: number): void {
    if (rule.kind === 'bucket') this.counted = bucket.refunded(this.counted, rule, now, cost, chargedAt)
    else if (rule.kind === 'sliding') sliding.refund(this.cells, 0, rule, cost, chargedAt)
    else if (rule.kind === 'log') log.refund(this.ring, rule, now, cost, chargedAt)
    else if (rule.kind === 'fixed' && this.counted > 0) {
      if (fixed.sameWindow(this.endAt, rule, chargedAt, phaseOf(rule, key))) this.save(this.counted - cost)
    }
  }

  credit(rule: Rule, cost: number): void {
    if (rule.kind === 'bucket') this.counted = bucket.credited(this.counted, rule, cost)
    else if (rule.kind === 'sliding') sliding.credit(this.cells, 0, rule, cost)
    else if (rule.kind === 'log') this.ring.dropOldest(Math.min(cost, this.ring.count))
    else if (rule.kind === 'fixed' && this.counted > 0) this.save(this.counted - cost)
  }

  data(rule: Rule, now: number): LimitData {
    if (rule.kind === 'bucket') return bucketData(this.counted, rule, now)
    if (rule.kind === 'fixed') return fixedData(this.counted, this.endAt, rule)
    if (rule.kind === 'sliding') return slidingData(this.cells, 0, rule, now)
    if (rule.kind === 'slots') return slotsData(this.queue.holders)
    return logData(Array.from({ length: this.ring.count }, (_, n) => this.ring.at(n)))
  }

  /** Roughly. */
  get bytes(): number {
    return 8 * (2 + this.cells.length + this.ring.count + 2 * this.queue.count)
  }

  /** In requests, rounded up. */
  used({ rule }: Charge, now: number): number {
    const look = new Charge(UNBOUND, rule, '', 0, ENFORCED)
    this.describe(look, now)
    return Math.ceil(look.used / rule.perRequest)
  }

  copy(): Count {
    const copy = new Count(this.rule)
    Object.assign(copy, {
      counted: this.counted,
      at: this.at,
      endAt: this.endAt,
      saved: this.saved,
      cells: [...this.cells],
    })
    return copy
  }

  private save(counted: number): void {
    this.counted = Math.max(0, counted)
    this.saved = { counted: this.counted, endAt: this.endAt }
  }
}

const UNBOUND: Limit = { space: { path: '', localShare: 0.5 }, block: undefined, atOnce: false }

/** Windows of `align: 'key'` start where every process agrees on. */
function phaseOf(rule: Rule, key: string): number {
  return rule.kind === 'fixed' && rule.policy.align === 'key' ? stableHash(key, rule.windowTicks) : 0
}

interface Hold {
  readonly cost: number
  readonly expiry: number
  readonly charge: Charge
  charged: number | undefined
}

/** All that is kept of one key of one limit. */
class Entry {
  private readonly counts = new Map<string, Count>()
  holds: Hold[] = []
  blockedUntil = 0
  strikes = 0
  strikesUntil = 0
  /** The number of its last reset. */
  resetNo = 0

  /** What is counted now, after charging the reservations that have expired as of their expiry. */
  count({ rule, key }: Charge, now: number): Count {
    while (this.holds.length > 0 && this.holds[0]!.expiry <= now) {
      const { charge, cost, expiry } = this.holds.shift()!
      this.at(charge.rule, key, expiry).take(charge, cost, expiry)
    }
    return this.at(rule, key, now)
  }

  get held(): number {
    return this.holds.reduce((sum, { cost }) => sum + cost, 0)
  }

  forget(): void {
    this.counts.clear()
    for (const hold of this.holds.splice(0)) hold.charged = 0
    this.blockedUntil = this.strikes = this.strikesUntil = 0
  }

  strike(rule: BlockRule, now: number): number {
    if (this.strikesUntil <= now) this.strikes = 0
    const ticks = Math.ceil(Math.min(rule.max, rule.first * rule.factor ** this.strikes++))
    this.blockedUntil = now + ticks
    this.strikesUntil = this.blockedUntil + (rule.factor > 1 ? rule.max : 0)
    return this.blockedUntil
  }

  private at(rule: Rule, key: string, now: number): Count {
    const shape = rule.kind === 'bucket' ? 'bucket' : rule.shape
    const count = this.counts.get(shape) ?? new Count(rule)
    this.counts.set(shape, count)
    return count.load(rule, key, now)
  }
}

class MapSpace implements Space {
  readonly localShare = 0.5
  readonly path: string
  readonly entries = new Map<string, Entry>()

  constructor(path: string) {
    this.path = path
  }
}

/** A store over plain Maps. It never forgets a key: a database behind it would, by an expiry of each key. */
export function mapStore({ clock }: { clock: Clock }): Store<'sync'> {
  const time = new StoreTime(clock, () => {})
  const spaces = new Map<string, MapSpace>()
  let resets = 0

  function entryOf({ limit, key }: Charge): Entry {
    const { entries } = limit.space as MapSpace
    let entry = entries.get(key)
    if (entry === undefined) {
      entry = new Entry()
      entries.set(key, entry)
    }
    return entry
  }

  function judge(charge: Charge, intent: Intent, now: number): void {
    const entry = entryOf(charge)
    const count = entry.count(charge, now)
    const { rule, cost } = charge
    charge.at = now
    count.judge(charge, cost + entry.held, now)
    if (entry.held > 0 && !charge.allowed) charge.retryAt = retryBeside(entry, count, charge, now)
    if (entry.blockedUntil > now) {
      Object.assign(charge, { blocked: true, allowed: false, retryAt: Math.max(charge.retryAt, entry.blockedUntil) })
    }
    if (charge.allowed && cost > 0 && reserves(charge, intent) && entry.holds.length >= MOST_HOLDS) {
      Object.assign(charge, { tooManyHolds: true, allowed: false, retryAt: entry.holds[0]!.expiry })
    }
    if (intent.bookTicks < 0 || charge.role !== ENFORCED || charge.blocked || rule.kind !== 'bucket' || entry.held > 0)
      return
    const start = bucket.startAt(count.counted, rule, now, cost)
    const fits = rule.queue ? charge.allowed : charge.retryAt < Infinity
    charge.allowed = fits && start - now <= intent.bookTicks && count.counted < 2 ** 52
    if (charge.allowed) {
      charge.retryAt = start
      if (!rule.queue) count.counted = Math.max(count.counted, (start - now) * rule.perTick)
      count.take(charge, cost, now)
      charge.receipt = resets + 1
    } else if (fits) charge.retryAt = Math.max(charge.retryAt, start - intent.bookTicks)
  }

  function take(charge: Charge, intent: Intent, now: number): void {
    const isHeld = reserves(charge, intent)
    if (!intent.take || charge.taken || (charge.cost === 0 && !isHeld)) return
    const { cost } = charge
    const entry = entryOf(charge)
    const count = entry.count(charge, now)
    if (isHeld) {
      const hold: Hold = { cost, expiry: now + intent.holdTicks, charge, charged: undefined }
      if (cost > 0) entry.holds = [...entry.holds, hold].sort((a, b) => a.expiry - b.expiry)
      charge.hold = hold
    } else count.take(charge, cost, now)
    charge.receipt = resets + 1
  }

  function describe(charge: Charge, now: number): void {
    const entry = entryOf(charge)
    const count = entry.count(charge, now)
    count.describe(charge, now)
    if (entry.held > 0) {
      charge.used += entry.held * charge.rule.perRequest
      charge.resetAt = resetBeside(entry, count, charge)
    }
    if (entry.blockedUntil <= now) return
    charge.used = Math.max(charge.used, charge.rule.limit * charge.rule.perRequest)
    charge.resetAt = Math.max(charge.resetAt, entry.blockedUntil)
  }

  /** Without refusal, until one whole limit is overdrawn. */
  function overdraw(charge: Charge, cost: number, least: number, now: number): number {
    const entry = entryOf(charge)
    const count = entry.count(charge, now)
    const charged = Math.min(cost, Math.max(least, 2 * charge.rule.limit - count.used(charge, now) - entry.held))
    if (charged > 0) count.take(charge, charged, now)
    return Math.max(0, charged)
  }

  function settle(charge: Charge, actual: number, now: number): number {
    const entry = entryOf(charge)
    const hold = charge.hold as Hold
    if (hold.charged !== undefined) return hold.charged
    const place = entry.holds.indexOf(hold)
    const isGone = place < 0 && (hold.cost > 0 || hold.expiry <= now || charge.receipt <= entry.resetNo)
    if (place >= 0) entry.holds.splice(place, 1)
    hold.charged = isGone ? (hold.cost > 0 ? hold.cost : 0) : overdraw(charge, actual, charge.cost, now)
    return hold.charged
  }

  function change(one: Change, now: number): number {
    const { charge } = one
    const { rule, receipt, hold, cost } = charge
    const entry = entryOf(charge)
    const count = entry.count(charge, now)
    switch (one.type) {
      case 'refund':
        charge.receipt = 0
        if (receipt === 0) return 0
        if (rule.kind === 'slots') return change({ type: 'release', charge }, now)
        if (hold !== undefined) return settle(charge, 0, now)
        if (receipt <= entry.resetNo) return 0
        count.refund(charge, now, Math.max(charge.at, charge.retryAt))
        return cost
      case 'credit':
        count.credit(rule, cost)
        return cost
      case 'unbook':
        charge.receipt = 0
        if (receipt > 0) count.credit(rule, cost)
        return cost
      case 'penalize':
        return overdraw(charge, cost, 0, now)
      case 'set':
        count.credit(rule, Infinity)
        if (one.used > entry.held) count.take(charge, one.used - entry.held, now)
        return 0
      case 'release':
        return hold instanceof slots.Holder ? Number(hold.release(now)) : 0
      case 'renew':
        return hold instanceof slots.Holder && rule.kind === 'slots' ? Number(hold.renew(now, now + rule.ttlTicks)) : 0
      case 'settle':
        return settle(charge, one.actual, now)
      case 'reset':
        entry.forget()
        entry.resetNo = ++resets
        return 0
      case 'block':
        entry.blockedUntil = now + one.ticks
        if (entry.strikesUntil <= now) entry.strikes = 0
        entry.strikesUntil = Math.max(entry.blockedUntil, entry.strikesUntil)
        return one.ticks
      case 'unblock':
        entry.blockedUntil = entry.strikes = entry.strikesUntil = 0
        return 0
    }
  }

  return {
    mode: 'sync',
    clock: time.clock,
    bind(path) {
      const space = spaces.get(path) ?? new MapSpace(path)
      spaces.set(path, space)
      return space
    },
    ask(question: Question) {
      const { charges, intent } = question
      const now = time.read()
      for (const charge of charges) judge(charge, intent, now)
      const refused = refusedOf(charges)
      for (const charge of charges) {
        const { block } = charge.limit
        const isLimits = !charge.allowed && !charge.blocked && !charge.tooManyHolds && charge.cost <= charge.rule.limit
        if (isTaken(charge, charges, refused)) take(charge, intent, now)
        else if (isLimits && intent.strikes && block !== undefined) {
          charge.retryAt = Math.max(charge.retryAt, entryOf(charge).strike(block, now))
        }
        describe(charge, now)
      }
      question.done()
    },
    amend(changes) {
      const now = time.read()
      return changes.map(one => change(one, now))
    },
    inspect({ limit, rule, key }): KeyInspection {
      const now = time.read()
      const look = new Charge(limit, rule, key, 0, ENFORCED)
      describe(look, now)
      const entry = entryOf(look)
      return {
        at: now / 1000,
        used: look.used,
        blockedUntil: entry.blockedUntil > now ? entry.blockedUntil / 1000 : undefined,
        holds: heldCosts(entry.holds),
        bytes: look.used === 0 ? 0 : entry.count(look, now).bytes,
        state: entry.count(look, now).data(rule, now),
      }
    },
    close: () => spaces.clear(),
  }
}

function reserves({ rule, limit }: Charge, { holdTicks }: Intent): boolean {
  return holdTicks > 0 && rule.kind !== 'slots' && !limit.atOnce
}

/** When a refused charge passes beside what is held: each reservation is charged as it expires, and drains from then on. */
function retryBeside(entry: Entry, count: Count, charge: Charge, now: number): number {
  const { rule, key, cost } = charge
  let { held } = entry
  const soonest = entry.holds.slice(0, HOLDS_PLAYED)
  if (cost > rule.limit) return Infinity
  if (rule.kind === 'log') {
    if (cost + held <= rule.limit) return charge.retryAt
    for (const hold of soonest) {
      held -= hold.cost
      if (cost + held <= rule.limit) return hold.expiry + rule.windowTicks
    }
    return soonest.at(-1)!.expiry + rule.windowTicks
  }
  const future = count.copy()
  const passes = (at: number) => {
    const trial = new Charge(charge.limit, rule, key, cost + held, ENFORCED)
    future.load(rule, key, at).judge(trial, trial.cost, at)
    return trial.allowed ? at : trial.retryAt
  }
  let at = now
  for (const hold of soonest) {
    const passAt = passes(at)
    if (passAt <= hold.expiry) return passAt
    future.load(rule, key, hold.expiry).take(charge, hold.cost, hold.expiry)
    held -= hold.cost
    at = hold.expiry
  }
  return entry.holds.length > soonest.length ? at : passes(at)
}

function resetBeside(entry: Entry, count: Count, { limit, rule, key }: Charge): number {
  const soonest = entry.holds.slice(0, HOLDS_PLAYED)
  const last = entry.holds.at(-1)!.expiry
  if (rule.kind === 'log') return last + rule.windowTicks
  const future = count.copy()
  const trial = new Charge(limit, rule, key, 0, ENFORCED)
  let rest = entry.held
  for (const { cost, expiry } of soonest) {
    future.load(rule, key, expiry).take(trial, cost, expiry)
    rest -= cost
  }
  future.load(rule, key, last)
  if (rest > 0) future.take(trial, rest, last)
  future.describe(trial, last)
  return trial.resetAt
}
