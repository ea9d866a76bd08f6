import { expected } from '../../errors.ts'
import type { WarningCode } from '../../warning.ts'
import { type AddressSource, clientAddress, type TrustProxy, trustOf } from '../address/client-address.ts'
import { type RouteTable, routeTable } from './routes.ts'

/** What is in front of a guard, and which routes are behind it. */
export interface SiteOptions {
  /** The proxies in front: their address ranges, or how many there are. Without it, no forwarding header is believed. */
  trustProxy?: TrustProxy
  /** The header in which trusted proxies name the client: `'x-forwarded-for'` by default, `'forwarded'` or any other. */
  addressFrom?: AddressSource
  /** All addresses of one IPv6 network with a prefix of this many bits count as one client; 64 by default. */
  ipv6Prefix?: number
  /** Templates (`/orders/:id`, `/files/*`), if the framework cannot tell which route serves a request. */
  routes?: readonly string[]
}

export interface Site {
  readonly clientAddress: ReturnType<typeof clientAddress>
  /** The address, not cut to its network: the `allow` and `deny` lists may name a single address. */
  readonly wholeAddress: ReturnType<typeof clientAddress>
  /** True if no proxy is trusted, so no header can change who the client is. */
  readonly trustsNobody: boolean
  /** An address normalized as in keys; `'unknown'` if the text is not an address. */
  readonly addressOf: (text: string) => string
  /** Whether the peer is a trusted proxy, which may say who the client is. */
  readonly isTrusted: (peer: string) => boolean
  readonly routes: RouteTable | undefined
  /** Warns once of something that is probably a mistake. */
  readonly warn: (code: WarningCode, message: string) => void
}

export const SITE_OPTIONS = ['trustProxy', 'addressFrom', 'ipv6Prefix', 'routes'] as const

export function siteOf(options: SiteOptions, warn: Site['warn'] = () => {}): Site {
  const { trustProxy, addressFrom, ipv6Prefix, routes } = options
  if (routes !== undefined && !Array.isArray(routes)) {
    throw expected('SLUICE_BAD_OPTION', "routes as a list of templates such as '/orders/:id'", routes)
  }
  const from = { ...(trustProxy !== undefined && { trustProxy }), ...(addressFrom !== undefined && { addressFrom }) }
  // Without `trustProxy` no header is read.
  const canonical = clientAddress(ipv6Prefix === undefined ? {} : { ipv6Prefix })
  return {
    clientAddress: clientAddress({ ...from, ...(ipv6Prefix !== undefined && { ipv6Prefix }) }),
    wholeAddress: clientAddress({ ...from, ipv6Prefix: 128 }),
    trustsNobody: trustProxy === undefined,
    isTrusted: trustOf(trustProxy).ofPeer,
    addressOf: text => canonical(text, () => undefined),
    routes: routes === undefined ? undefined : routeTable(routes),
    warn,
  }
}
