import { expected } from '../../errors.ts'
import { type Address, formatAddress, parseAddress } from './address.ts'
import { addressRanges } from './cidr.ts'
import { forwardedFor, startOfElement } from './forwarded.ts'

/**
 * The proxies that may name the client: ranges of addresses, with `'unix'` for peers on a unix socket, which have no
 * address, or the number of proxies in front.
 */
export type TrustProxy = readonly string[] | number | undefined
/** The only header to read. A header other than these two, such as `x-real-ip`, holds a single address. */
export type AddressSource = 'x-forwarded-for' | 'forwarded' | string

export interface ClientAddressOptions {
  trustProxy?: TrustProxy
  /** `x-forwarded-for` by default. */
  addressFrom?: AddressSource
  /**
   * How many bits of an IPv6 address tell clients apart. 64 by default, since providers give each client a whole /64.
   */
  ipv6Prefix?: number
}

/** What is known about a peer. It is cached, since most requests come over connections that are kept alive. */
interface Peer {
  readonly address: string
  readonly isTrusted: boolean
}

interface Trust {
  /** `text` is empty for a peer without an address. */
  ofPeer(text: string): boolean
  /** The peer is hop 0. */
  ofHop(address: Address, hop: number): boolean
}

interface HeaderFormat {
  /** The start of the entry that ends at `end`. */
  startOf(list: string, end: number): number
  addressOf(entry: string): Address | undefined
}

/** Clients whose address is not known share this key, so that hiding an address does not escape a limit. */
const UNKNOWN = 'unknown'
const MOST_PEERS = 1024

/**
 * The client's address. `peer` is the socket's address, if there is one; `header` joins several lines of a header with
 * commas.
 *
 * This reads only what a trusted hop has written, so no client can choose its own address. It reads a list from the
 * right, where the nearest proxy wrote, and skips trusted entries. An entry that is not strictly an address ends the
 * search: the result is then the last valid entry.
 */
export function clientAddress(
  options: ClientAddressOptions,
): (peer: string | undefined, header: (name: string) => string | undefined) => string {
  const { trustProxy, addressFrom, ipv6Prefix = 64 } = options
  if (!Number.isInteger(ipv6Prefix) || ipv6Prefix < 32 || ipv6Prefix > 128) {
    throw expected('SLUICE_BAD_OPTION', 'ipv6Prefix as a whole number from 32 to 128', ipv6Prefix)
  }
  if (addressFrom !== undefined && trustProxy === undefined) {
    const advice = 'add trustProxy, the ranges or the number of the proxies that set it, since anyone can send a header'
    throw expected('SLUICE_BAD_OPTION', 'addressFrom together with trustProxy', addressFrom, advice)
  }
  const trust = trustOf(trustProxy)
  const name = headerName(addressFrom)
  const source = SOURCES.get(name) ?? SINGLE
  const peers = new Map<string, Peer>()

  function meet(text: string): Peer {
    const address = parseAddress(text)
    const peer: Peer = {
      address: address === undefined ? UNKNOWN : formatAddress(address, ipv6Prefix),
      isTrusted: trust.ofPeer(text),
    }
    if (peers.size >= MOST_PEERS) peers.clear()
    peers.set(text, peer)
    return peer
  }

  return (peer, header) => {
    const text = peer ?? ''
    const { address, isTrusted } = peers.get(text) ?? meet(text)
    if (!isTrusted) return address
    const client = walk(header(name) ?? '', source, trust)
    return client === undefined ? address : formatAddress(client, ipv6Prefix)
  }
}

/** Reads from the right and stops as soon as it can: the left may be a megabyte that a stranger wrote. */
function walk(list: string, source: HeaderFormat, trust: Trust): Address | undefined {
  let client: Address | undefined
  for (let end = list.length, hop = 1; end >= 0; hop++) {
    const start = source.startOf(list, end)
    const address = source.addressOf(withoutSpaces(list, start, end))
    if (address === undefined) break
    client = address
    if (!trust.ofHop(address, hop)) break
    end = start - 1
  }
  return client
}

/** Uses no regular expression: `\s+$` takes quadratic time on many spaces before another character. */
function withoutSpaces(list: string, start: number, end: number): string {
  const isSpace = (at: number) => list[at] === ' ' || list[at] === '\t'
  let [from, to] = [start, end]
  while (from < to && isSpace(from)) from++
  while (from < to && isSpace(to - 1)) to--
  return list.slice(from, to)
}

export function trustOf(trustProxy: TrustProxy = []): Trust {
  if (typeof trustProxy === 'number' && Number.isSafeInteger(trustProxy) && trustProxy >= 0) {
    return { ofPeer: () => trustProxy > 0, ofHop: (_, hop) => hop < trustProxy }
  }
  if (!Array.isArray(trustProxy)) {
    const what = 'trustProxy as a list of ranges or the number of proxies in front'
    throw expected('SLUICE_BAD_OPTION', what, trustProxy, trustAdvice(trustProxy))
  }
  const trustsUnix = trustProxy.includes('unix')
  const ranges = addressRanges(
    trustProxy.filter(range => range !== 'unix'),
    'trustProxy',
  )
  return {
    ofPeer: text => (text === '' ? trustsUnix : ranges.has(text)),
    ofHop: address => ranges.has(address),
  }
}

function trustAdvice(value: unknown): string {
  if (value === true)
    return "true would trust everybody's header; list your proxies' ranges, or write how many there are"
  if (value === false || value === null) return 'leave it out to trust nobody'
  return typeof value === 'string' ? "write a list, such as ['10.0.0.0/8'], or a number without quotes" : ''
}

function headerName(value: unknown = 'x-forwarded-for'): string {
  if (typeof value === 'string' && /^[!#$%&'*+.^_`|~\w-]+$/.test(value)) return value.toLowerCase()
  throw expected('SLUICE_BAD_OPTION', "addressFrom as a header's name such as 'forwarded' or 'x-real-ip'", value)
}

const SINGLE: HeaderFormat = { startOf: () => 0, addressOf: parseAddress }
const SOURCES: ReadonlyMap<string, HeaderFormat> = new Map([
  [
    'x-forwarded-for',
    { startOf: (list, end) => (end === 0 ? 0 : list.lastIndexOf(',', end - 1) + 1), addressOf: parseAddress },
  ],
  ['forwarded', { startOf: startOfElement, addressOf: forwardedFor }],
])
