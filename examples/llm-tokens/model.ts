export interface Ask {
  prompt: string
  /** The longest answer to give, in tokens. */
  maxTokens: number
}

/** A language model. It yields one token at a time, with the number used so far, including the prompt. */
export type Model = (ask: Ask) => AsyncIterable<{ token: string; usedTokens: number }>

/** The most tokens that a call may use. An invalid body is answered with 400, and costs one token until then. */
export function estimate(body: unknown): number {
  const ask = askOf(body)
  return ask === undefined ? 1 : tokensIn(ask.prompt) + ask.maxTokens
}

export function askOf(body: unknown): Ask | undefined {
  const { prompt, maxTokens } = (body ?? {}) as Partial<Record<keyof Ask, unknown>>
  if (typeof prompt !== 'string' || typeof maxTokens !== 'number') return undefined
  return Number.isSafeInteger(maxTokens) && maxTokens > 0 ? { prompt, maxTokens } : undefined
}

/** Estimates the number of tokens by a rule of thumb. */
export function tokensIn(text: string): number {
  return Math.ceil(text.length / 4)
}

/** A stand-in for a real model: it repeats the prompt. */
export async function* parrot({ prompt, maxTokens }: Ask) {
  let usedTokens = tokensIn(prompt)
  for (const token of prompt.split(' ').slice(0, maxTokens)) yield { token, usedTokens: ++usedTokens }
}
