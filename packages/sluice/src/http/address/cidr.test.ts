import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressRanges } from './cidr.ts'

function complaintOf(ranges: unknown): { code?: string; message: string } {
  try {
    addressRanges(ranges as readonly string[], 'trustProxy')
  } catch (error) {
    return error as Error
  }
  return { message: 'nothing was thrown' }
}

describe('a range has', () => {
  test.each<[range: string, inside: string[], outside: string[]]>([
    [
      '10.0.0.0/8',
      ['10.0.0.0', '10.255.255.255', '::ffff:10.1.2.3', '64:ff9b::a01:203'],
      ['9.255.255.255', '11.0.0.0'],
    ],
    ['192.0.2.128/25', ['192.0.2.128', '192.0.2.255'], ['192.0.2.127', '192.0.3.0']],
    ['128.0.0.0/1', ['128.0.0.0', '255.255.255.255'], ['127.255.255.255', '8000::']],
    ['192.0.2.1', ['192.0.2.1', '::ffff:192.0.2.1'], ['192.0.2.0', '192.0.2.2', '::c000:201']],
    ['192.0.2.1/32', ['192.0.2.1'], ['192.0.2.0']],
    ['0.0.0.0', ['0.0.0.0'], ['0.0.0.1', '::']],
    ['2001:db8::/32', ['2001:db8::', '2001:DB8:ffff::1%eth0'], ['2001:db7:ffff::', '2001:db9::', '32.1.13.184']],
    ['2001:db8:0:80::/57', ['2001:db8:0:80::', '2001:db8:0:ff::1'], ['2001:db8:0:7f::', '2001:db8:0:100::']],
    ['2001:db8::8000/113', ['2001:db8::8000', '2001:db8::ffff'], ['2001:db8::7fff', '2001:db8::1:0']],
    ['::1', ['::1', '0:0:0:0:0:0:0:1'], ['::', '::2', '127.0.0.1', '0.0.0.1', '::ffff:0.0.0.1']],
    ['::1/128', ['::1'], ['::2']],
    ['::/8', ['::1', 'ff::'], ['100::', '1.2.3.4', '::ffff:1.2.3.4', '64:ff9b::1.2.3.4']],
    ['8000::/1', ['ffff::'], ['7fff::', '255.0.0.0']],
    ['64:ff9b::10.0.0.0/104', ['10.1.2.3', '64:ff9b::10.1.2.3'], ['11.0.0.0']],
    ['loopback', ['127.0.0.1', '127.255.0.1', '::1', '::ffff:127.0.0.1'], ['128.0.0.1', '::2', '10.0.0.1']],
    [
      'private',
      ['10.0.0.1', '172.16.0.0', '172.31.255.255', '192.168.1.1', '169.254.0.1'],
      ['172.15.0.0', '172.32.0.0'],
    ],
    ['private', ['fc00::', 'fdff::1', 'fe80::1%eth0', 'febf::'], ['fbff::', 'fe00::', 'fec0::', '127.0.0.1', '::1']],
  ])('%s has %j and not %j', (range, inside, outside) => {
    const ranges = addressRanges([range], 'trustProxy')
    expect(inside.filter(address => !ranges.has(address))).toStrictEqual([])
    expect(outside.filter(address => ranges.has(address))).toStrictEqual([])
  })

  test('nothing where there are no ranges', () => {
    expect(addressRanges([], 'trustProxy').has('127.0.0.1')).toBe(false)
  })

  test('what any one of several has', () => {
    const ranges = addressRanges(['loopback', '192.0.2.0/24', '2001:db8::/32'], 'trustProxy')
    expect(['::1', '127.0.0.1', '192.0.2.9', '2001:db8::9'].every(address => ranges.has(address))).toBe(true)
    expect(ranges.has('192.0.3.9')).toBe(false)
  })

  test.each(['', 'loopback', '10.0.0.0/8', '10.0.0.1:80', '010.0.0.1', '[::1]', 'unknown'])('never %j', text => {
    expect(addressRanges(['10.0.0.0/8', 'loopback'], 'trustProxy').has(text)).toBe(false)
  })

  test('what the arithmetic of 128 bits says, and IPv4 only where IPv4 was meant', () => {
    const MAPPED = 0xffff_0000_0000n
    const isMapped = (value: bigint) => value >> 32n === 0xffffn
    const isNat64 = (value: bigint) => value >> 32n === 0x64_ff9b_0000_0000_0000_0000n
    const text = (value: bigint) => value.toString(16).padStart(32, '0').match(/.{4}/g)!.join(':')
    const cut = (value: bigint, bits: number) => (value >> BigInt(128 - bits)) << BigInt(128 - bits)

    const ipv4 = fc.bigInt(0n, 0xffff_ffffn).map(value => MAPPED | value)
    const low = fc.bigInt(0n, 2n ** 64n - 1n)
    const ipv6 = fc.oneof(fc.bigInt(0n, 2n ** 128n - 1n), low).filter(value => !isMapped(value) && !isNat64(value))
    const ranges = fc.oneof(
      fc.record({ value: ipv4, bits: fc.integer({ min: 97, max: 128 }) }),
      fc
        .record({ value: ipv6, bits: fc.integer({ min: 1, max: 128 }) })
        .filter(({ value, bits }) => !isMapped(cut(value, bits)) && !isNat64(cut(value, bits))),
    )
    const cases = ranges.chain(({ value, bits }) => {
      // One that differs in a single bit, so that the edge of the range is met often.
      const near = fc.nat(127).map(bit => value ^ (1n << BigInt(bit)))
      return fc.record({ value: fc.constant(value), bits: fc.constant(bits), address: fc.oneof(near, ipv4, ipv6) })
    })
    fc.assert(
      fc.property(cases, ({ value, bits, address }) => {
        fc.pre(!isNat64(address))
        const range = addressRanges([`${text(cut(value, bits))}/${bits}`], 'trustProxy')
        const isInside = cut(address, bits) === cut(value, bits) && isMapped(address) === isMapped(value)
        expect(range.has(text(address))).toBe(isInside)
      }),
      { numRuns: 5000 },
    )
  })
})

describe('known holes stay closed', () => {
  const RANGES = ['::ffff:10.0.0.0/8', '::ffff:10.0.0.0/104', '::ffff:a00:0/104', '0:0:0:0:0:FFFF:10.0.0.0/8']

  test.each(RANGES)('CVE-2026-90711: %s is 10.0.0.0/8 and does not trust all of IPv4', range => {
    const ranges = addressRanges([range], 'trustProxy')
    expect(['10.0.0.0', '10.255.255.255', '::ffff:10.1.2.3'].every(address => ranges.has(address))).toBe(true)
    for (const address of ['9.9.9.9', '11.0.0.0', '203.0.113.7', '::ffff:203.0.113.7', '::1', '2001:db8::1']) {
      expect(ranges.has(address)).toBe(false)
    }
  })

  test('CVE-2026-92395: no IPv6 range, however wide, has an IPv4 address in it', () => {
    for (let bits = 1; bits <= 96; bits++) {
      const ranges = addressRanges([`::/${bits}`], 'trustProxy')
      expect(ranges.has('203.0.113.7') || ranges.has('::ffff:203.0.113.7') || ranges.has('::ffff:cb00:7107')).toBe(
        false,
      )
    }
  })
})

describe('a list is refused', () => {
  const WANTED = "expected trustProxy as '10.0.0.0/8', '2001:db8::/32', 'loopback', 'private' …, got "
  const SEE = ' [SLUICE_BAD_OPTION, see node_modules/sluice/errors.md#sluice_bad_option]'
  const WRAPPED = "; addresses written that way are IPv4 here; write the IPv4 range, such as '10.0.0.0/8'"
  const EVERYBODY = '; that is everybody; list the ranges that you mean'
  const ZONED = '; zones are not compared, so leave the zone out'

  test.each<[range: unknown, complaint: string]>([
    ['', "''"],
    ['everyone', "'everyone'"],
    ['Loopback', "'Loopback'"],
    ['loopback/8', "'loopback/8'"],
    ['constructor', "'constructor'"],
    ['*', "'*'"],
    ['10.0.0.0/', "'10.0.0.0/'"],
    ['10.0.0.0/33', "'10.0.0.0/33'"],
    ['10.0.0.0/104', "'10.0.0.0/104'"],
    ['10.0.0.0/08', "'10.0.0.0/08'"],
    ['10.0.0.0/-8', "'10.0.0.0/-8'"],
    ['10.0.0.0/8.0', "'10.0.0.0/8.0'"],
    ['10.0.0.0/0x8', "'10.0.0.0/0x8'"],
    ['10.0.0.0/ 8', "'10.0.0.0/ 8'"],
    ['10.0.0.0/8/8', "'10.0.0.0/8/8'"],
    ['10.0.0.0/255.0.0.0', "'10.0.0.0/255.0.0.0'"],
    ['10.0.0.0 - 10.0.0.255', "'10.0.0.0 - 10.0.0.255'"],
    ['10.0.0/8', "'10.0.0/8'"],
    ['10/8', "'10/8'"],
    ['010.0.0.0/8', "'010.0.0.0/8'"],
    [' 10.0.0.0/8', "' 10.0.0.0/8'"],
    ['10.0.0.0/8,192.168.0.0/16', "'10.0.0.0/8,192.168.0.0/16'"],
    ['[::1]', "'[::1]'"],
    ['2001:db8::/129', "'2001:db8::/129'"],
    ['2001:db8::/999', "'2001:db8::/999'"],
    ['fe80::%eth0/10', `'fe80::%eth0/10'${ZONED}`],
    ['fe80::1%eth0', `'fe80::1%eth0'${ZONED}`],
    ['0.0.0.0/0', `'0.0.0.0/0'${EVERYBODY}`],
    ['10.0.0.0/0', `'10.0.0.0/0'${EVERYBODY}`],
    ['::/0', `'::/0'${EVERYBODY}`],
    ['::ffff:0:0/96', `'::ffff:0:0/96'${EVERYBODY}`],
    ['::ffff:0.0.0.0/0', `'::ffff:0.0.0.0/0'${EVERYBODY}`],
    ['64:ff9b::/96', `'64:ff9b::/96'${EVERYBODY}`],
    ['::ffff:10.0.0.0/33', `'::ffff:10.0.0.0/33'${WRAPPED}`],
    ['::ffff:10.0.0.0/95', `'::ffff:10.0.0.0/95'${WRAPPED}`],
    ['::ffff:a00:0/8', `'::ffff:a00:0/8'${WRAPPED}`],
    ['::ffff:0:0/80', `'::ffff:0:0/80'${WRAPPED}`],
    ['64:ff9b::/32', `'64:ff9b::/32'${WRAPPED}`],
    ['10.0.0.1/8', "'10.0.0.1/8'; write '10.0.0.1' for the one address, or '10.0.0.0/8' for the range"],
    ['192.0.2.1/31', "'192.0.2.1/31'; write '192.0.2.1' for the one address, or '192.0.2.0/31' for the range"],
    ['2001:db8::1/32', "'2001:db8::1/32'; write '2001:db8::1' for the one address, or '2001:db8::/32' for the range"],
    [
      '::ffff:10.0.0.1/104',
      "'::ffff:10.0.0.1/104'; write '10.0.0.1' for the one address, or '10.0.0.0/8' for the range",
    ],
    ['::1.2.3.4/8', "'::1.2.3.4/8'; write '::102:304' for the one address, or '::/8' for the range"],
    [undefined, 'undefined'],
    [null, 'null'],
    [1, '1'],
    [['10.0.0.0/8'], 'an array of 1'],
  ])('with %j in it', (range, complaint) => {
    const { code, message } = complaintOf(['loopback', range])
    expect(message).toBe(WANTED + complaint + SEE)
    expect(code).toBe('SLUICE_BAD_OPTION')
  })

  test.each<[ranges: unknown, got: string]>([
    ['10.0.0.0/8', "'10.0.0.0/8'"],
    [undefined, 'undefined'],
    [{ 0: 'loopback' }, 'an object with 0'],
  ])('where it is none: %j', (ranges, got) => {
    expect(complaintOf(ranges).message).toBe(`expected trustProxy as a list of ranges, got ${got}${SEE}`)
  })
})
