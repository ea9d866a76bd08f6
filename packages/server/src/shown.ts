const LONGEST = 40

/** What came, for a message that says what was expected: as JSON, and not much of it. */
export function shown(value: unknown): string {
  const text = textOf(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}

function textOf(value: unknown): string {
  try {
    return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value))
  } catch {
    return Array.isArray(value) ? 'a deep array' : 'a deep object' // deeper than the engine goes
  }
}
