export function isWildcard(pattern: string): boolean {
  return pattern.includes('*')
}

/**
 * Does text have the form of a pattern, where each `*` stands for any run of characters, none included? Looks for the
 * pieces between the stars one after the other, each as early as it comes: what is found early leaves more for the rest,
 * so there is never a reason to go back, and a hostile text costs no more than another.
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
