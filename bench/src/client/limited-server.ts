import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fixedWindow, type Policy, tokenBucket } from 'sluice'
import type { HeaderFamily } from 'sluice/http'
import { rateLimit } from 'sluice/node'

export type Kind = 'fixed window' | 'token bucket'
export const KINDS: readonly Kind[] = ['fixed window', 'token bucket']
export const WINDOW_MS = 10_000

/** 100 per 10 s by either kind of policy. */
export const policyOf = (kind: Kind): Policy =>
  kind === 'fixed window' ? fixedWindow({ limit: 100, window: '10s' }) : tokenBucket({ capacity: 100, refill: '10/s' })

/** The most requests that a client can get in this time if it starts with the window. */
export const quotaOf = (kind: Kind, ms: number): number =>
  kind === 'fixed window' ? 100 * Math.ceil(ms / WINDOW_MS) : 100 + Math.floor(ms / 100)

/** The requests of one contestant that reached the server. */
export interface Tally {
  served: number
  refused: number
}

/** A server with a limit for each contestant, under the path `/<name>`. */
export async function limitedServer() {
  const limits = new Map<string, { tally: Tally; limit: ReturnType<typeof rateLimit> }>()
  const server = createServer((request, response) => {
    const found = limits.get(decodeURIComponent(request.url!.slice(1)))!
    found.limit(request, response, () => {
      found.tally.served++
      response.end('served')
    })
    if (response.statusCode === 429) found.tally.refused++
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    enter(name: string, kind: Kind, headers: HeaderFamily): { url: string; tally: Tally } {
      const tally = { served: 0, refused: 0 }
      limits.set(name, { tally, limit: rateLimit({ policy: policyOf(kind), headers }) })
      return { url: `http://127.0.0.1:${port}/${encodeURIComponent(name)}`, tally }
    },
    close: () => server.closeAllConnections(),
  }
}

/** Resolves when a window of 10 s has just begun. */
export function windowStart(): Promise<void> {
  const now = performance.timeOrigin + performance.now()
  return new Promise(resolve => setTimeout(resolve, WINDOW_MS - (now % WINDOW_MS) + 5))
}

/** Runs eight callers, each with one call after the other. A call that throws counts as failed. */
export async function eightCallers(call: () => Promise<unknown>, ms: number): Promise<void> {
  const until = performance.now() + ms
  const caller = async () => {
    while (performance.now() < until) await call().catch(() => new Promise(resolve => setTimeout(resolve, 1)))
  }
  const callers = Promise.all(Array.from({ length: 8 }, caller))
  await Promise.race([callers, new Promise(resolve => setTimeout(resolve, ms))])
}
