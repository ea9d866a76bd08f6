import { isIPv4, isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAddress, parseAddress } from './address.ts'

/** Undefined if the text is not strictly an address. */
function canonicalAddress(text: string, ipv6Prefix: number): string | undefined {
  const address = parseAddress(text)
  return address && formatAddress(address, ipv6Prefix)
}

/** The same 128 bits, written by chance in one of the ways that RFC 4291 allows. */
function spellings(value: bigint): fc.Arbitrary<string> {
  const hextets = Array.from({ length: 8 }, (_, at) => Number((value >> BigInt(112 - 16 * at)) & 0xffffn))
  const choices = fc.record({
    isDotted: fc.boolean(),
    padding: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 8, maxLength: 8 }),
    isUpper: fc.boolean(),
    gapAt: fc.nat(7),
    gapLength: fc.nat(8),
    zone: fc.constantFrom('', '%eth0', '%0', '%br-lan_1.2~x'),
  })
  return choices.map(({ isDotted, padding, isUpper, gapAt, gapLength, zone }) => {
    const groups = hextets.map((hextet, at) => hextet.toString(16).padStart(padding[at]!, '0'))
    if (isDotted) {
      const octets = hextets.slice(6).flatMap(hextet => [hextet >> 8, hextet & 255])
      groups.splice(6, 2, octets.join('.'))
    }
    // As many zeros as there are, from a place of chance on, go into the '::'.
    let gap = 0
    while (gap < gapLength && /^0+$/.test(groups[gapAt + gap] ?? '')) gap++
    const text =
      gap === 0 ? groups.join(':') : `${groups.slice(0, gapAt).join(':')}::${groups.slice(gapAt + gap).join(':')}`
    return (isUpper ? text.toUpperCase() : text) + zone
  })
}

/** Many zeros, and often one of the networks that mean IPv4. */
const values = fc
  .record({
    hextets: fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 }),
    network: fc.constantFrom(undefined, 0xffff_0000_0000n, 0x64_ff9b_0000_0000_0000_0000_0000_0000n),
  })
  .map(({ hextets, network }) => {
    const value = hextets.reduce((all, hextet) => (all << 16n) | BigInt(hextet), 0n)
    return network === undefined ? value : network | (value & 0xffff_ffffn)
  })
const prefixes = fc.integer({ min: 32, max: 128 })

/** What RFC 5952 says, by the URL parser of the platform. */
function byPlatform(value: bigint, prefix: number): string {
  const ipv4 = value & 0xffff_ffffn
  if (value >> 32n === 0xffffn || value >> 32n === 0x64_ff9b_0000_0000_0000_0000n) {
    return [24n, 16n, 8n, 0n].map(shift => (ipv4 >> shift) & 255n).join('.')
  }
  const cut = (value >> BigInt(128 - prefix)) << BigInt(128 - prefix)
  const groups = cut.toString(16).padStart(32, '0').match(/.{4}/g)!
  const text = new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
  return prefix < 128 ? `${text}/${prefix}` : text
}

describe('the canonical text', () => {
  test.each<[text: string, canonical: string]>([
    ['203.0.113.7', '203.0.113.7'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:CB00:7107', '203.0.113.7'],
    ['0000:0000:0000:0000:0000:ffff:203.0.113.7', '203.0.113.7'],
    ['0:0:0:0::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7%eth0', '203.0.113.7'],
    ['64:ff9b::203.0.113.7', '203.0.113.7'],
    ['64:ff9b::cb00:7107', '203.0.113.7'],
    ['0064:FF9B:0:0:0:0:cb00:7107', '203.0.113.7'],
    ['64:ff9b:1::203.0.113.7', '64:ff9b:1::/64'],
    ['64:ff9b::1:203.0.113.7', '64:ff9b::/64'],
    ['::203.0.113.7', '::/64'],
    ['::fffe:203.0.113.7', '::/64'],
    ['::ffff:0:203.0.113.7', '::/64'],
    ['::1', '::/64'],
    ['::', '::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::2:0:0:1', '2001:db8::/64'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['fe80::1%25', 'fe80::/64'],
    ['fe80::1%br-lan_1.2', 'fe80::/64'],
  ])('of %s is %s', (text, canonical) => {
    expect(canonicalAddress(text, 64)).toBe(canonical)
  })

  test.each<[prefix: number, canonical: string]>([
    [32, '2001:db8::/32'],
    [33, '2001:db8:8000::/33'],
    [48, '2001:db8:ffff::/48'],
    [56, '2001:db8:ffff:ff00::/56'],
    [63, '2001:db8:ffff:fffe::/63'],
    [64, '2001:db8:ffff:ffff::/64'],
    [65, '2001:db8:ffff:ffff:8000::/65'],
    [96, '2001:db8:ffff:ffff:ffff:ffff::/96'],
    [127, '2001:db8:ffff:ffff:ffff:ffff:ffff:fffe/127'],
    [128, '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ])('of IPv6 cut to %d bits is %s', (prefix, canonical) => {
    expect(canonicalAddress('2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', prefix)).toBe(canonical)
  })

  test.each<[text: string, canonical: string]>([
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['1:0:0:0:0:0:0:0', '1::'],
    ['0:1:0:0:0:0:1:0', '0:1::1:0'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:2:3:4:5:6:0:0', '1:2:3:4:5:6::'],
    ['0:0:3:4:5:6:7:8', '::3:4:5:6:7:8'],
    ['2001:DB8::000A', '2001:db8::a'],
    ['::1.2.3.4', '::102:304'],
  ])('of %s in full is %s', (text, canonical) => {
    expect(canonicalAddress(text, 128)).toBe(canonical)
  })

  test('is the same for every spelling, and as the platform writes it', () => {
    const spelt = values.chain(value => fc.tuple(fc.constant(value), spellings(value)))
    fc.assert(
      fc.property(spelt, prefixes, ([value, text], prefix) => {
        expect(canonicalAddress(text, prefix)).toBe(byPlatform(value, prefix))
      }),
      { numRuns: 5000 },
    )
  })

  test('of the address in a canonical text is that text again', () => {
    fc.assert(
      fc.property(values.chain(spellings), prefixes, (text, prefix) => {
        const canonical = canonicalAddress(text, prefix)!
        expect(canonicalAddress(canonical.replace(/\/\d+$/, ''), prefix)).toBe(canonical)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('strict parsing', () => {
  test.each([
    '',
    ' ',
    '01.2.3.4',
    '1.2.3.04',
    '00.0.0.0',
    '0x7f.1',
    '0x7f.0.0.1',
    '127.1',
    '2130706433',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '1.2.3.-4',
    '1.2.3.4.',
    '.1.2.3.4',
    '1..2.3',
    '1.2.3.4:80',
    '1.2.3.4/32',
    '1.2.3.4%eth0',
    ' 1.2.3.4',
    '1.2.3.4 ',
    '1.2.3.4\n',
    '1.2.3.4\0',
    '1.2.3.4, 5.6.7.8',
    '١.٢.٣.٤',
    '１.2.3.4',
    '1。2。3。4',
    'localhost',
    'unknown',
    '_hidden',
    '[::1]',
    '[::1]:80',
    '::1/128',
    '2001:db8::/64',
    ':',
    ':::',
    '1:::2',
    '1::2::3',
    '::1::',
    ':1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4::5:6:7:8',
    '::1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7:1.2.3.4',
    '1:2:3:4:5:1.2.3.4',
    '::12345',
    '::00001',
    '::g',
    '::-1',
    '::+1',
    '::0x1',
    '::1 ',
    ' ::1',
    '1.2.3.4::',
    '::1.2.3.4:5',
    '::ffff:01.2.3.4',
    '::ffff:1.2.3',
    '::ffff:1.2.3.256',
    '::ffff:1.2.3.4:80',
    '::1%',
    '::1%%eth0',
    '::1%eth0%eth1',
    '::1%eth 0',
    '::1%eth0/64',
    '::1%[',
    '%eth0',
    `::1%${'e'.repeat(60)}`,
  ])('takes %j for no address', text => {
    expect(canonicalAddress(text, 64)).toBeUndefined()
  })

  test.each(['1', ':', '1.', '1:', '::1%'])('takes a megabyte of %j for no address', text => {
    expect(canonicalAddress(text.repeat(1_000_000), 64)).toBeUndefined()
  })

  test('takes the longest of all addresses', () => {
    expect(canonicalAddress('0000:0000:0000:0000:0000:ffff:255.255.255.255%interface-15chr', 64)).toBe(
      '255.255.255.255',
    )
  })

  test('agrees with the platform on every text that looks a little like an address', () => {
    const digits = fc.constantFrom('0', '00', '1', '01', '9', '25', '255', '256', 'f', 'FFFF', 'fffff', 'g', '')
    const marks = fc.constantFrom('.', ':', '::', ':', '')
    const texts = fc.array(fc.tuple(digits, marks), { maxLength: 10 }).map(parts => parts.flat().join(''))
    const dotted = fc.array(digits, { minLength: 3, maxLength: 5 }).map(parts => parts.join('.'))
    fc.assert(
      fc.property(
        fc.oneof(
          texts,
          dotted,
          fc.tuple(texts, dotted).map(parts => parts.join(':')),
        ),
        text => {
          expect(canonicalAddress(text, 64) !== undefined).toBe(isIPv4(text) || isIPv6(text))
        },
      ),
      { numRuns: 20_000 },
    )
  })

  test('never throws, whatever the text', () => {
    const texts = fc.string({ unit: fc.constantFrom(...'01fF::..%g é\0🙂[]'), maxLength: 50 })
    fc.assert(
      fc.property(texts, text => {
        expect(() => canonicalAddress(text, 64)).not.toThrow()
      }),
      { numRuns: 2000 },
    )
  })
})

describe('known holes stay closed', () => {
  test('CVE-2026-30827: IPv4-mapped addresses are not grouped by the prefix of IPv6', () => {
    for (const prefix of [32, 56, 64, 96, 128]) {
      expect(canonicalAddress('::ffff:192.0.2.1', prefix)).toBe('192.0.2.1')
      expect(canonicalAddress('::ffff:c000:202', prefix)).toBe('192.0.2.2')
    }
  })

  test('CVE-2026-45364: neither the spelling nor the host part of IPv6 makes another key', () => {
    const keys = ['2001:db8::1', '2001:DB8::2', '2001:0db8:0:0:ffff::', '2001:db8:0::1%eth0', '2001:db8::1.2.3.4']
    expect(new Set(keys.map(key => canonicalAddress(key, 64)))).toStrictEqual(new Set(['2001:db8::/64']))
  })

  test('GHSA-5847-rm3g-23mw: 1.2.3.4 and ::ffff:1.2.3.4 are one', () => {
    const keys = ['1.2.3.4', '::ffff:1.2.3.4', '::ffff:102:304', '0:0:0:0:0:FFFF:0102:0304', '64:ff9b::1.2.3.4']
    expect(new Set(keys.map(key => canonicalAddress(key, 64)))).toStrictEqual(new Set(['1.2.3.4']))
  })
})
