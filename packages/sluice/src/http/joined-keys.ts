/** Whoever comes again is known for so many; then all are forgotten at once, which costs least. */
const MOST_KEPT = 1024

/**
 * Keys joined from parts. The same ones are asked for again and again, an address on its route, so what was last joined
 * for each first part is kept: found again it is the same text as before, which a store need not even compare.
 */
export class JoinedKeys {
  private readonly kept = new Map<string, Joined>()

  /** There is at least one part. */
  of(parts: readonly string[]): string {
    const last = this.kept.get(parts[0]!)
    if (last !== undefined && isOf(last, parts)) return last.key
    if (last === undefined && this.kept.size >= MOST_KEPT) this.kept.clear()
    const key = joined(parts)
    this.kept.set(parts[0]!, { parts, key })
    return key
  }
}

interface Joined {
  readonly parts: readonly string[]
  readonly key: string
}

/** The first part is what it was found by. */
function isOf({ parts }: Joined, others: readonly string[]): boolean {
  for (let i = 1; i < parts.length; i++) if (parts[i] !== others[i]) return false
  return true
}

/** Each with its length before it, `3:abc`, so that parts cannot run together. */
function joined(parts: readonly string[]): string {
  let key = '&'
  for (const part of parts) key += `${part.length}:${part}`
  return key
}

/** Texts with a word before them, `route:/orders/:id`: the same text again for the same one. */
export class PrefixedTexts {
  private readonly prefix: string
  private readonly kept = new Map<string, string>()

  constructor(prefix: string) {
    this.prefix = prefix
  }

  of(text: string): string {
    let whole = this.kept.get(text)
    if (whole === undefined) {
      if (this.kept.size >= MOST_KEPT) this.kept.clear()
      whole = this.prefix + text
      this.kept.set(text, whole)
    }
    return whole
  }
}
