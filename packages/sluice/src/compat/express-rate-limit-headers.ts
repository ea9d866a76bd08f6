import type { Response } from 'express'

export type HeaderDraft = 'draft-6' | 'draft-7' | 'draft-8'

/** The value of `request.rateLimit`. Refused requests are not counted, so `used` never exceeds `limit`. */
export interface ExpressRateLimitInfo {
  limit: number
  used: number
  remaining: number
  resetTime: Date
  key: string
}

export function setLegacyHeaders(response: Response, { limit, remaining, resetTime }: ExpressRateLimitInfo): void {
  if (response.headersSent) return
  response.setHeader('X-RateLimit-Limit', limit)
  response.setHeader('X-RateLimit-Remaining', remaining)
  response.setHeader('X-RateLimit-Reset', Math.ceil(resetTime.getTime() / 1000))
}

export function setStandardHeaders(
  response: Response,
  draft: true | HeaderDraft,
  { limit, remaining }: ExpressRateLimitInfo,
  reset: number,
  windowMs: number,
  name = `${limit}-in-${windowText(windowMs)}`,
): void {
  if (response.headersSent) return
  const window = Math.ceil(windowMs / 1000)
  if (draft === 'draft-8') {
    response.append('RateLimit-Policy', `"${name}"; q=${limit}; w=${window}`)
    response.append('RateLimit', `"${name}"; r=${remaining}; t=${reset}`)
    return
  }
  response.setHeader('RateLimit-Policy', `${limit};w=${window}`)
  if (draft === 'draft-7') {
    response.setHeader('RateLimit', `limit=${limit}, remaining=${remaining}, reset=${reset}`)
    return
  }
  response.setHeader('RateLimit-Limit', limit)
  response.setHeader('RateLimit-Remaining', remaining)
  response.setHeader('RateLimit-Reset', reset)
}

/** A duration as express-rate-limit writes it: `15min`. */
function windowText(windowMs: number): string {
  const [size, unit] = UNITS.find(([ms]) => windowMs >= ms) ?? [1, 'ms']
  return `${Math.floor(windowMs / size)}${unit}`
}

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hr'],
  [60_000, 'min'],
  [1000, 'sec'],
] as const
