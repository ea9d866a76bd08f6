export interface Ask {
  prompt: string
  /** The longest answer that is wanted. */
  maxTokens: number
}

/** A language model: says a token at a time, and how many the call has used so far, the prompt's included. */
export type Model = (ask: Ask) => AsyncIterable<{ token: string; usedTokens: number }>

/** What a call may use at the most. A body that is no ask is answered with 400, and costs one token until then. */
export function estimate(body: unknown): number {
  const ask = askOf(body)
  return ask === undefined ? 1 : tokensIn(ask.prompt) + ask.maxTokens
}

export function askOf(body: unknown): Ask | undefined {
  const { prompt, maxTokens } = (body ?? {}) as Partial<Record<keyof Ask, unknown>>
  if (typeof prompt !== 'string' || typeof maxTokens !== 'number') return undefined
  return Number.isSafeInteger(maxTokens) && maxTokens > 0 ? { prompt, maxTokens } : undefined
}

/** As a rule of thumb. */
export function tokensIn(text: string): number {
  return Math.ceil(text.length / 4)
}

/** Says the prompt again. */
export async function* parrot({ prompt, maxTokens }: Ask) {
  let usedTokens = tokensIn(prompt)
  for (const token of prompt.split(' ').slice(0, maxTokens)) yield { token, usedTokens: ++usedTokens }
}
