/**
 * The most frequent keys of an endless stream in bounded memory ("space saving", Metwally et al. 2005). A new key
 * replaces the rarest one and inherits its count. So no count is too low, and none is too high by more than it
 * inherited.
 */
export class TopKeys {
  private readonly most: number
  private readonly counts = new Map<string, { count: number; over: number }>()

  constructor(most: number) {
    this.most = most
  }

  add(key: string): void {
    const known = this.counts.get(key)
    if (known !== undefined) known.count++
    else if (this.counts.size < this.most) this.counts.set(key, { count: 1, over: 0 })
    else this.replaceRarest(key)
  }

  read(): { key: string; count: number; over: number }[] {
    return [...this.counts].map(([key, seen]) => ({ key, ...seen })).sort((a, b) => b.count - a.count)
  }

  private replaceRarest(key: string): void {
    let rarest = ''
    let count = Infinity
    for (const [other, seen] of this.counts) {
      if (seen.count < count) {
        count = seen.count
        rarest = other
      }
    }
    this.counts.delete(rarest)
    this.counts.set(key, { count: count + 1, over: count })
  }
}
