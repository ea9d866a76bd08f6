/** The service's report on one limit for a subject. */
export interface Explained {
  readonly limit: string
  readonly applies: boolean
  readonly why: string
  readonly mode: string
  readonly policy?: string
}

export interface LimitState {
  readonly name: string
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly resetAfterMs: number | null
  readonly retryAfterMs: number | null
}

export interface Decision {
  readonly allowed: boolean
  readonly policy: string
  readonly retryAfterMs: number | null
  readonly limits: readonly LimitState[]
}

/** A limit as the rules of the service describe it. */
export interface LimitDescription {
  readonly key: readonly string[]
  readonly when: Readonly<Record<string, readonly string[]>>
  readonly by?: string
  readonly cost?: number | string
  readonly policy: string | Readonly<Record<string, string>>
}

/** The attributes of a request and its cost, as a check takes them. */
export type Ask = Readonly<Record<string, string | number>>

/** The operator's token that `npm start` prints. It is sent with every request. See main.tsx. */
const token = sessionStorage.getItem('token')

export const isOperator = token !== null

/** Asks whether there is a service. The page sends nothing else to a plain file server. */
export async function isServed(): Promise<boolean> {
  try {
    const response = await fetch('./openapi.json')
    return response.ok && response.headers.get('content-type')?.includes('json') === true
  } catch {
    return false
  }
}

export function limits(): Promise<LimitDescription[]> {
  return call('limits')
}

export function check(asks: Ask | readonly Ask[]): Promise<Decision | Decision[]> {
  return call('check', asks)
}

export function peek(ask: Ask): Promise<Decision> {
  return call('peek', ask)
}

export function explain(ask: Ask): Promise<Explained[]> {
  const query = new URLSearchParams(Object.entries(ask).map(([name, value]) => [name, String(value)]))
  return call(`explain?${query}`)
}

export function reset({ cost: _, ...subject }: Ask): Promise<unknown> {
  return call('reset', subject)
}

/** The same check as a command for a terminal. */
export function curlOf(ask: Ask): string {
  const address = new URL('./v1/check', location.href).href
  const body = JSON.stringify(ask).replaceAll("'", "'\\''")
  return `curl -X POST ${address} -H 'Content-Type: application/json' -d '${body}'`
}

async function call<T>(path: string, body?: unknown): Promise<T> {
  const response = await fetch(`./v1/${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
    },
  })
  const answer: unknown = await response.json()
  const { error } = Object(answer) as { error?: string }
  if (error !== undefined) throw new Error(error)
  return answer as T
}
