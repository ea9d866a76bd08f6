/** Something that expires at a tick. The heap sets `place`: -1 if the item is in no heap. */
export interface Expiring {
  readonly expiry: number
  place: number
}

/**
 * A binary heap, soonest expiry first. Every item knows its place, so that any item can be removed in O(log n) and none
 * stays after it has ended.
 */
export class ExpiryHeap<T extends Expiring> {
  private readonly items: T[] = []

  get size(): number {
    return this.items.length
  }

  get first(): T | undefined {
    return this.items[0]
  }

  add(item: T): void {
    item.place = this.items.push(item) - 1
    this.moved(item)
  }

  remove(item: T): void {
    const last = this.items.pop()!
    if (last !== item) {
      this.put(last, item.place)
      this.moved(last)
    }
    item.place = -1
  }

  /** Finds the right place for an item whose expiry has changed. */
  moved(item: T): void {
    this.rise(item)
    this.sink(item)
  }

  /**
   * The `most` items that expire soonest, in that order. An item expires no sooner than its parent, so only children of
   * chosen items can be next. This takes O(most²), however many items there are.
   */
  soonest(most: number): T[] {
    const chosen: T[] = []
    const next = this.items.slice(0, 1)
    while (chosen.length < most && next.length > 0) {
      let best = 0
      for (let i = 1; i < next.length; i++) if (next[i]!.expiry < next[best]!.expiry) best = i
      const [item] = next.splice(best, 1)
      chosen.push(item!)
      next.push(...this.items.slice(2 * item!.place + 1, 2 * item!.place + 3))
    }
    return chosen
  }

  sorted(): T[] {
    return [...this.items].sort((one, other) => one.expiry - other.expiry)
  }

  private rise(item: T): void {
    let above = this.items[(item.place - 1) >> 1]
    while (item.place > 0 && item.expiry < above!.expiry) {
      this.swap(item, above!)
      above = this.items[(item.place - 1) >> 1]
    }
  }

  private sink(item: T): void {
    for (;;) {
      const left = this.items[2 * item.place + 1]
      const right = this.items[2 * item.place + 2]
      const sooner = right !== undefined && right.expiry < left!.expiry ? right : left
      if (sooner === undefined || sooner.expiry >= item.expiry) return
      this.swap(sooner, item)
    }
  }

  private swap(one: T, other: T): void {
    const { place } = one
    this.put(one, other.place)
    this.put(other, place)
  }

  private put(item: T, place: number): void {
    this.items[place] = item
    item.place = place
  }
}
