export function isWildcard(pattern: string): boolean {
  return pattern.includes('*')
}

/**
 * Whether text matches a pattern in which each `*` stands for any characters, or none. It looks for the pieces between
 * the stars in order, each as early as possible, which leaves the most text for the rest. So it never backtracks, and
 * hostile text takes no longer than other text.
 */
export function wildcard(pattern: string): (text: string) => boolean {
  const pieces = pattern.split('*')
  const first = pieces.shift()!
  const last = pieces.pop()
  if (last === undefined) return text => text === pattern
  return text => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
    const end = text.length - last.length
    let at = first.length
    for (const piece of pieces) {
      const found = text.indexOf(piece, at)
      if (found < 0 || found + piece.length > end) return false
      at = found + piece.length
    }
    return true
  }
}
