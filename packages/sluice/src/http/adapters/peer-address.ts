/** What servers hand over with a request, where it tells the other end of the connection. */
interface Beside {
  /** Node, by way of `@hono/node-server`. */
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } | null }
  /** Deno. */
  readonly remoteAddr?: { readonly hostname?: string }
  /** Bun: its server itself, or under this name. */
  requestIP?(request: Request): { readonly address: string } | null
  readonly server?: Pick<Beside, 'requestIP'>
}

/** Workers and Next.js hand over something else, and then nobody knows: a header of what is in front of them does. */
export function peerOf(request: Request, beside: unknown): string | undefined {
  if (typeof beside !== 'object' || beside === null) return undefined
  const known = beside as Beside
  const address =
    known.incoming?.socket?.remoteAddress ??
    known.remoteAddr?.hostname ??
    known.requestIP?.(request)?.address ??
    known.server?.requestIP?.(request)?.address
  return typeof address === 'string' ? address : undefined
}
