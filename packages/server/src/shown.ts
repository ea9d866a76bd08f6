const LONGEST = 40

/** The start of a value as JSON, for the `got …` of error messages. */
export function shown(value: unknown): string {
  const text = textOf(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}

function textOf(value: unknown): string {
  try {
    return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value))
  } catch {
    return Array.isArray(value) ? 'a deep array' : 'a deep object' // too deep for JSON.stringify
  }
}
