import { expected } from '../../errors.ts'
import type { WarningCode } from '../../warning.ts'
import { type AddressSource, clientAddress, type TrustProxy, trustOf } from '../address/client-address.ts'
import { type RouteTable, routeTable } from './routes.ts'

/** Where a guard stands: what is in front of it, and which routes are behind it. */
export interface SiteOptions {
  /** The proxies in front: their address ranges, or how many there are. Without it, no forwarding header is believed. */
  trustProxy?: TrustProxy
  /** Where trusted proxies name the client: `'x-forwarded-for'` by default, or `'forwarded'`, or a header of theirs. */
  addressFrom?: AddressSource
  /** Addresses of one IPv6 network of so many bits are one client; 64 by default. */
  ipv6Prefix?: number
  /** Templates (`/orders/:id`, `/files/*`), where the framework cannot tell which route serves a request. */
  routes?: readonly string[]
}

export interface Site {
  readonly clientAddress: ReturnType<typeof clientAddress>
  /** Not cut to its network: for lists, which may name a single address. */
  readonly wholeAddress: ReturnType<typeof clientAddress>
  /** No header can change who the client is. */
  readonly trustsNobody: boolean
  /** One spelling of an address, as keys have it; `'unknown'` for what is none. */
  readonly addressOf: (text: string) => string
  /** Whether the word of the peer is taken for who the client is. */
  readonly isTrusted: (peer: string) => boolean
  readonly routes: RouteTable | undefined
  /** Says once what is only probably wrong. */
  readonly warn: (code: WarningCode, message: string) => void
}

export const SITE_OPTIONS = ['trustProxy', 'addressFrom', 'ipv6Prefix', 'routes'] as const

export function siteOf(options: SiteOptions, warn: Site['warn'] = () => {}): Site {
  const { trustProxy, addressFrom, ipv6Prefix, routes } = options
  if (routes !== undefined && !Array.isArray(routes)) {
    throw expected('SLUICE_BAD_OPTION', "routes as a list of templates such as '/orders/:id'", routes)
  }
  const from = { ...(trustProxy !== undefined && { trustProxy }), ...(addressFrom !== undefined && { addressFrom }) }
  // Without trust no header is asked for.
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
