/** Something that expires at a tick, unless it is over before. */
export interface Expiring {
  readonly expiry: number
}

const FEW = 64

/** Soonest expiry first. Mostly all live equally long, so one more goes to the end; what is over before leaves now and then. */
export class ExpiryQueue<T extends Expiring> {
  private items: T[] = []
  private first = 0
  private over = 0
  private readonly isOver: (item: T) => boolean

  constructor(isOver: (item: T) => boolean) {
    this.isOver = isOver
  }

  add(item: T): void {
    let at = this.items.length
    while (at > this.first && this.items[at - 1]!.expiry > item.expiry) at--
    if (at === this.items.length) this.items.push(item)
    else this.items.splice(at, 0, item)
  }

  /** The next one that has expired by now, taken out; undefined where there is none. */
  next(now: number): T | undefined {
    while (this.first < this.items.length) {
      const item = this.items[this.first]!
      if (this.isOver(item)) this.over--
      else if (item.expiry > now) return undefined
      this.first++
      if (!this.isOver(item)) return item
    }
    this.items = []
    this.first = 0
    return undefined
  }

  /** One that is in here is over before its time. */
  ended(): void {
    this.over++
    if (this.over < FEW || this.over * 2 < this.items.length - this.first) return
    this.items = this.items.slice(this.first).filter(item => !this.isOver(item))
    this.first = 0
    this.over = 0
  }
}
