/** A bounded set of keys. When it is full, it drops the key that was added least recently. */
export class RecentKeys {
  private readonly most: number
  private readonly keys = new Set<string>()

  constructor(most: number) {
    this.most = most
  }

  has(key: string): boolean {
    return this.keys.has(key)
  }

  add(key: string): void {
    this.keys.delete(key)
    this.keys.add(key)
    if (this.keys.size > this.most) this.keys.delete(this.keys.values().next().value!)
  }
}
