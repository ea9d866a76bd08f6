import { expected } from '../../errors.ts'
import { type Address, formatAddress, IPV4_AT, isIPv4, parseAddress, wordMask } from './address.ts'

export interface AddressRanges {
  /** Accepts an address in any spelling. A text that is not strictly an address is in no range. */
  has(address: string | Address): boolean
}

interface Range {
  readonly base: Address
  readonly mask: readonly number[]
}

const NAMED: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', '169.254.0.0/16', 'fe80::/10']],
])

const EVERYBODY = 'that is everybody; list the ranges that you mean'
const WRAPPED = "addresses written that way are IPv4 here; write the IPv4 range, such as '10.0.0.0/8'"
const ZONED = 'zones are not compared, so leave the zone out'

/**
 * A set of addresses and ranges: `'192.0.2.1'`, `'10.0.0.0/8'`, `'2001:db8::/32'`, `'loopback'`, or `'private'` (RFC
 * 1918, unique local and link-local). `option` is the name that error messages use.
 *
 * IPv4 addresses match IPv4 ranges only. A wide IPv6 range such as `::/8` would contain every IPv4 address numerically,
 * which its author does not mean.
 */
export function addressRanges(ranges: readonly string[], option: string): AddressRanges {
  if (!Array.isArray(ranges)) throw expected('SLUICE_BAD_OPTION', `${option} as a list of ranges`, ranges)
  const ipv4: Range[] = []
  const ipv6: Range[] = []
  for (const text of ranges.flatMap(range => NAMED.get(range) ?? [range])) {
    const range = parseRange(text, option)
    if (isIPv4(range.base)) ipv4.push(range)
    else ipv6.push(range)
  }
  return {
    has(address) {
      const found = typeof address === 'string' ? parseAddress(address) : address
      return found !== undefined && (isIPv4(found) ? ipv4 : ipv6).some(range => isWithin(found, range))
    },
  }
}

function isWithin(address: Address, { base, mask }: Range): boolean {
  for (let word = 0; word < 4; word++) {
    if (((address[word]! ^ base[word]!) & mask[word]!) !== 0) return false
  }
  return true
}

function parseRange(text: unknown, option: string): Range {
  const refuse = (advice: string) =>
    expected('SLUICE_BAD_OPTION', `${option} as '10.0.0.0/8', '2001:db8::/32', 'loopback', 'private' …`, text, advice)
  if (typeof text !== 'string') throw refuse('')
  if (text.includes('%')) throw refuse(ZONED)
  const [host = '', prefix, ...rest] = text.split('/')
  const base = parseAddress(host)
  if (base === undefined || rest.length > 0) throw refuse('')

  const bits = prefix === undefined ? 128 : bitsOf(host, base, prefix)
  if (Number.isNaN(bits)) throw refuse(isIPv4(base) && host.includes(':') ? WRAPPED : '')
  if (bits === (isIPv4(base) ? IPV4_AT : 0)) throw refuse(EVERYBODY)
  const mask = base.map((_, index) => wordMask(bits, index))
  // A bit set beyond the prefix is a mistake: the author meant one host or another prefix. A guess may trust too many.
  const cut = base.map((word, index) => (word & mask[index]!) >>> 0) as unknown as Address
  if (cut.some((word, index) => word !== base[index])) {
    throw refuse(`write '${rangeText(base, 128)}' for the one address, or '${rangeText(cut, bits)}' for the range`)
  }
  return { base, mask }
}

/**
 * How many of the 128 bits a prefix fixes; NaN if it is not a prefix. For IPv4 in IPv6 form the prefix may count the bits
 * of either: `::ffff:10.0.0.0/8` and `::ffff:10.0.0.0/104` are both 10.0.0.0/8. An IPv6 prefix of 8 bits would contain
 * all of IPv4.
 */
function bitsOf(host: string, base: Address, prefix: string): number {
  const bits = /^(0|[1-9]\d{0,2})$/.test(prefix) ? Number(prefix) : NaN
  if (isIPv4(base) && host.includes('.') && bits <= 32) return IPV4_AT + bits
  const least = isIPv4(base) ? IPV4_AT : 0
  return host.includes(':') && bits >= least && bits <= 128 ? bits : NaN
}

function rangeText(base: Address, bits: number): string {
  const text = formatAddress(base, bits)
  return isIPv4(base) && bits < 128 ? `${text}/${bits - IPV4_AT}` : text
}
