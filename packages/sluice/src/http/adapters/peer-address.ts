/** The values that servers pass along with a request and that hold the address of the client. */
interface ServerInfo {
  /** Node, by way of `@hono/node-server`. */
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } | null }
  /** Deno. */
  readonly remoteAddr?: { readonly hostname?: string }
  /** Bun: its server itself, or under this name. */
  requestIP?(request: Request): { readonly address: string } | null
  readonly server?: Pick<ServerInfo, 'requestIP'>
}

/** The client's address, or undefined: workers and Next.js pass no address, so only a header of their proxy tells it. */
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
