/** What a server hands over beside a request, as far as it tells the address of the client. */
interface ServerInfo {
  /** Node, by way of `@hono/node-server`. */
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } | null }
  /** Deno. */
  readonly remoteAddr?: { readonly hostname?: string }
  /** Bun: its server itself, or under this name. */
  requestIP?(request: Request): { readonly address: string } | null
  readonly server?: Pick<ServerInfo, 'requestIP'>
}

/** The client's address, or undefined: workers and Next.js hand over no address, only their proxy's header tells it. */
export function peerOf(request: Request, beside: unknown): string | undefined {
  if (typeof beside !== 'object' || beside === null) return undefined
  const known = beside as ServerInfo
  const address =
    known.incoming?.socket?.remoteAddress ??
    known.remoteAddr?.hostname ??
    known.requestIP?.(request)?.address ??
    known.server?.requestIP?.(request)?.address
  return typeof address === 'string' ? address : undefined
}
