import { followResponse, responseOf, whenAborted, withFields } from './adapters/fetch-response.ts'
import { guardFrom } from './adapters/guard-from.ts'
import { peerOf } from './adapters/peer-address.ts'
import type { Guard } from './guard/guard.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { Reader, RequestView } from './request/request-facts.ts'

export type { GuardOptions } from './guard/guard-options.ts'
export { decisionOf } from './guard/outcome.ts'

/** What functions in the options receive. */
export type FetchView = RequestView<Request>

/** `Rest` is what the runtime passes after the request: `{ params }` in Next.js, connection info in Deno, the server in Bun. */
type FetchHandler<Rest extends unknown[]> = (request: Request, ...rest: Rest) => Response | Promise<Response>

/**
 * `export const GET = rateLimit({ policy: '100/m', trustProxy: 1 })(handler)`: for Next.js route handlers, `Deno.serve`,
 * `Bun.serve`, workers, and any other handler that takes a `Request` and returns a `Response`.
 */
export function rateLimit(options: GuardOptions<FetchView> | Guard) {
  const guard = guardFrom(options)
  return function limited<Rest extends unknown[]>(handler: FetchHandler<Rest>) {
    return async function sluice(request: Request, ...rest: Rest): Promise<Response> {
      const outcome = await guard.ask(request, request, readerFor(rest))
      if (outcome === undefined) return handler(request, ...rest)
      if (outcome.refusal !== undefined) return responseOf(outcome, outcome.refusal, request.method)
      return followResponse(outcome, request, async () => withFields(outcome, await handler(request, ...rest)))
    }
  }
}

function readerFor(rest: readonly unknown[]): Reader<Request, Request> {
  return { ...reader, peer: request => peerOf(request, rest[0]) }
}

const reader: Omit<Reader<Request, Request>, 'peer'> = {
  method: request => request.method,
  target: request => request.url,
  header: (request, name) => request.headers.get(name) ?? undefined,
  onClose: ({ signal }, callback) => whenAborted(signal, callback),
}
