/**
 * 128 bits as four unsigned words, the highest first. IPv4 is always stored as ::ffff:a.b.c.d, in whichever IPv6 form it
 * arrived, so that one host has one address.
 */
export type Address = readonly [number, number, number, number]

/** Bits in front of the IPv4 part of an address. */
export const IPV4_AT = 96

/** The longest address: IPv6 that ends in IPv4, with the name of an interface. A longer text is not parsed. */
const LONGEST = 45 + '%'.length + 15
const ZONE = /^[\w.~-]+$/

/** Written without regular expressions, which take several times as long: behind a proxy this runs for every request. */
export function parseAddress(text: string): Address | undefined {
  if (text.length > LONGEST) return undefined
  if (!text.includes(':')) {
    const ipv4 = parseIPv4(text)
    return ipv4 === undefined ? undefined : [0, 0, 0xffff, ipv4]
  }
  const zoneAt = text.indexOf('%')
  if (zoneAt === -1) return parseIPv6(text)
  return ZONE.test(text.slice(zoneAt + 1)) ? parseIPv6(text.slice(0, zoneAt)) : undefined
}

/**
 * Gives all spellings of an address, and all addresses of one IPv6 network, the same text: `203.0.113.7`,
 * `2001:db8:1:2::/64`.
 *
 * Always builds a new string. A slice of the parsed text would be equal for IPv4, but as a key in a store it would keep
 * the whole header in memory.
 */
export function formatAddress(address: Address, ipv6Prefix: number): string {
  if (isIPv4(address)) {
    const word = address[3]
    return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`
  }
  const hextets: number[] = []
  for (let word = 0; word < 4; word++) {
    const kept = address[word]! & wordMask(ipv6Prefix, word)
    hextets.push(kept >>> 16, kept & 0xffff)
  }
  return ipv6Prefix < 128 ? `${formatHextets(hextets)}/${ipv6Prefix}` : formatHextets(hextets)
}

export function isIPv4(address: Address): boolean {
  return address[0] === 0 && address[1] === 0 && address[2] === 0xffff
}

/** A mask of the bits of one word (0 to 3) that are among the first `bits` of an address. */
export function wordMask(bits: number, word: number): number {
  const kept = Math.min(Math.max(bits - 32 * word, 0), 32)
  return kept === 0 ? 0 : -1 << (32 - kept)
}

function parseIPv4(text: string): number | undefined {
  let word = 0
  let dots = 0
  let octet = -1
  for (let at = 0; at < text.length; at++) {
    const digit = digitAt(text, at)
    if (digit < 10) {
      if (octet === 0) return undefined // some programs read a leading zero (010) as octal
      octet = octet === -1 ? digit : octet * 10 + digit
      if (octet > 255) return undefined
    } else {
      if (text[at] !== '.' || octet === -1) return undefined
      word = word * 256 + octet
      octet = -1
      dots++
    }
  }
  return dots === 3 && octet !== -1 ? word * 256 + octet : undefined
}

function parseIPv6(text: string): Address | undefined {
  const hextets = [0, 0, 0, 0, 0, 0, 0, 0]
  let count = 0
  let gapAt = -1
  let at = 0
  if (text.startsWith('::')) {
    gapAt = 0
    at = 2
  }
  while (at < text.length) {
    const start = at
    let hextet = 0
    for (let digit = digitAt(text, at); digit < 16; digit = digitAt(text, ++at)) hextet = hextet * 16 + digit
    if (text[at] === '.') {
      const ipv4 = parseIPv4(text.slice(start))
      if (ipv4 === undefined) return undefined
      hextets[count++] = ipv4 >>> 16
      hextets[count++] = ipv4 & 0xffff
      break
    }
    if (at === start || at - start > 4) return undefined
    hextets[count++] = hextet
    if (at === text.length) break
    // A colon is followed by a group or, once in an address, by another colon.
    if (text[at] !== ':' || ++at === text.length) return undefined
    if (text[at] !== ':') continue
    if (gapAt !== -1) return undefined
    gapAt = count
    at++
  }
  const missing = 8 - count
  // '::' stands for at least one group; without it, all eight groups are there.
  if (gapAt === -1 ? missing !== 0 : missing < 1) return undefined
  if (gapAt !== -1) for (let to = 7; to >= gapAt; to--) hextets[to] = to - missing < gapAt ? 0 : hextets[to - missing]!
  return fromHextets(hextets)
}

function fromHextets(hextets: readonly number[]): Address {
  const word = (at: number) => ((hextets[at]! << 16) | hextets[at + 1]!) >>> 0
  const address: Address = [word(0), word(2), word(4), word(6)]
  // IPv6-only networks reach IPv4 hosts as 64:ff9b::/96 (RFC 6052).
  const isNat64 = address[0] === 0x64_ff9b && address[1] === 0 && address[2] === 0
  return isNat64 ? [0, 0, 0xffff, address[3]] : address
}

/** The value of a hexadecimal digit; 16 for any other character and past the end. */
function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : 16
}

/** RFC 5952: `::` replaces the longest run of zero groups, the first one if several are equal, and never a single group. */
function formatHextets(hextets: readonly number[]): string {
  let gapAt = -1
  let gap = 1
  for (let at = 0; at < 8; ) {
    let end = at
    while (hextets[end] === 0) end++
    if (end - at > gap) {
      gapAt = at
      gap = end - at
    }
    at = end + 1
  }
  let text = ''
  for (let at = 0; at < 8; at++) {
    if (at === gapAt) {
      text += '::'
      at += gap - 1
    } else {
      text += at === 0 || at === gapAt + gap ? hextets[at]!.toString(16) : `:${hextets[at]!.toString(16)}`
    }
  }
  return text
}
