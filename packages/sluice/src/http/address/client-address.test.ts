import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ClientAddressOptions, clientAddress } from './client-address.ts'

type Headers = Readonly<Record<string, string>>

/** One request, as if it were the first. */
function ask(options: ClientAddressOptions, peer: string | undefined, headers: Headers = {}): string {
  return clientAddress(options)(peer, name => headers[name])
}

function forwardedFor(trustProxy: ClientAddressOptions['trustProxy'], peer: string | undefined, list: string): string {
  return ask({ trustProxy }, peer, { 'x-forwarded-for': list })
}

function forwarded(list: string, trustProxy: readonly string[] | number = ['10.0.0.0/8']): string {
  return ask({ trustProxy, addressFrom: 'forwarded' }, '10.0.0.1', { forwarded: list })
}

function messageOf(options: unknown): string {
  try {
    clientAddress(options as ClientAddressOptions)
  } catch (error) {
    expect(error).toMatchObject({ code: 'SLUICE_BAD_OPTION' })
    return (error as Error).message
  }
  return 'nothing was thrown'
}

describe('without trusted proxies', () => {
  test.each<[peer: string | undefined, client: string]>([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    [undefined, 'unknown'],
    ['', 'unknown'],
    ['203.0.113.7:80', 'unknown'],
    ['/run/app.sock', 'unknown'],
    ['unknown', 'unknown'],
    ['__proto__', 'unknown'],
  ])('the peer %j is the client %s', (peer, client) => {
    expect(ask({}, peer)).toBe(client)
  })

  test.each<[prefix: number, client: string]>([
    [32, '2001:db8::/32'],
    [56, '2001:db8:1::/56'],
    [128, '2001:db8:1:2:3:4:5:6'],
  ])('IPv6 is cut to the %d bits that were asked for', (ipv6Prefix, client) => {
    expect(ask({ ipv6Prefix }, '2001:db8:1:2:3:4:5:6')).toBe(client)
  })

  test('a peer is told the same again, also after thousands of others', () => {
    const addressOf = clientAddress({ trustProxy: ['10.0.0.0/16'] })
    const header = () => '192.0.2.1'
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 3000; n++) {
        expect(addressOf(`::ffff:198.51.${n >> 8}.${n & 255}`, header)).toBe(`198.51.${n >> 8}.${n & 255}`)
        expect(addressOf('10.0.0.1', header)).toBe('192.0.2.1')
        expect(addressOf(undefined, header)).toBe('unknown')
      }
    }
  })
})

describe('behind trusted ranges', () => {
  const TRUST = ['10.0.0.0/8', 'loopback', '2001:db8:ffff::/48']

  test.each<[what: string, peer: string, list: string, client: string]>([
    ['the peer itself, if it is not trusted', '203.0.113.9', '192.0.2.1', '203.0.113.9'],
    ['whom the proxy names', '10.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['whom the proxy names, in whatever spelling the proxy comes', '::ffff:10.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['whom a proxy names that has IPv6', '2001:DB8:FFFF::1%eth0', '192.0.2.1', '192.0.2.1'],
    ['the first from the right', '10.0.0.1', '192.0.2.1, 192.0.2.2', '192.0.2.2'],
    ['the first from the right that is not trusted', '10.0.0.1', '192.0.2.1, 192.0.2.2, 10.0.0.2, ::1', '192.0.2.2'],
    ['the left-most, if all are trusted', '10.0.0.1', '10.0.0.4, 10.0.0.3, 10.0.0.2', '10.0.0.4'],
    ['the peer, if there is no header', '10.0.0.1', '', '10.0.0.1'],
    ['canonical, if it is wrapped', '10.0.0.1', '::ffff:c000:201', '192.0.2.1'],
    ['canonical, if it is IPv6', '10.0.0.1', '2001:DB8:0:0:1::1', '2001:db8::/64'],
    ['compared in full, not cut to the prefix', '10.0.0.1', '2001:db8:fffe::1, 2001:db8:ffff::1', '2001:db8:fffe::/64'],
    ['found without spaces', '10.0.0.1', '192.0.2.1,10.0.0.2', '192.0.2.1'],
    ['found with many spaces and tabs', '10.0.0.1', '\t 192.0.2.1 \t,\t\t10.0.0.2  ', '192.0.2.1'],
    ['the peer, if the nearest entry is junk', '10.0.0.1', '192.0.2.1, junk', '10.0.0.1'],
    ['the last good hop, if junk comes after it', '10.0.0.1', '192.0.2.1, junk, 10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['not touched by junk beyond the client', '10.0.0.1', 'junk, 192.0.2.1', '192.0.2.1'],
    ['the last good hop before an empty entry', '10.0.0.1', '192.0.2.1,, 10.0.0.2', '10.0.0.2'],
    ['the last good hop before an empty first entry', '10.0.0.1', ',10.0.0.2', '10.0.0.2'],
    ['the peer, if the list ends in a comma', '10.0.0.1', '192.0.2.1,', '10.0.0.1'],
    ['the peer, if the list is a comma', '10.0.0.1', ',', '10.0.0.1'],
    ['the peer, if a port follows', '10.0.0.1', '192.0.2.1:80', '10.0.0.1'],
    ['the peer, if there are brackets', '10.0.0.1', '[2001:db8::1]', '10.0.0.1'],
    ['the peer, if there are quotes', '10.0.0.1', '"192.0.2.1"', '10.0.0.1'],
    ['the peer, if octets are octal', '10.0.0.1', '0192.0.2.1', '10.0.0.1'],
    ['the peer, if it is a range', '10.0.0.1', '192.0.2.0/24', '10.0.0.1'],
    ['the peer, if it is the word unknown', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['the peer, if a space of another kind is around it', '10.0.0.1', '\u00a0192.0.2.1', '10.0.0.1'],
    ['the peer, if a space is within', '10.0.0.1', '192.0.2.1 192.0.2.2', '10.0.0.1'],
  ])('the client is %s', (_, peer, list, client) => {
    expect(forwardedFor(TRUST, peer, list)).toBe(client)
  })

  test('an empty list trusts nobody', () => {
    expect(forwardedFor([], '127.0.0.1', '192.0.2.1')).toBe('127.0.0.1')
  })

  test('a list changed afterwards changes nothing', () => {
    const ranges = ['10.0.0.0/8']
    const addressOf = clientAddress({ trustProxy: ranges })
    ranges[0] = '203.0.113.0/24'
    expect(addressOf('203.0.113.9', () => '192.0.2.1')).toBe('203.0.113.9')
    expect(addressOf('10.0.0.1', () => '192.0.2.1')).toBe('192.0.2.1')
  })

  test.each<[peer: string | undefined, trustProxy: readonly string[], list: string, client: string]>([
    [undefined, ['unix'], '192.0.2.1', '192.0.2.1'],
    ['', ['unix'], '192.0.2.1', '192.0.2.1'],
    [undefined, ['unix'], '', 'unknown'],
    [undefined, ['unix'], 'junk', 'unknown'],
    [undefined, ['unix'], '192.0.2.1, 10.0.0.2', '10.0.0.2'],
    [undefined, ['10.0.0.0/8', 'unix'], '192.0.2.1, 10.0.0.2', '192.0.2.1'],
    ['10.0.0.1', ['10.0.0.0/8', 'unix'], '192.0.2.1', '192.0.2.1'],
    ['203.0.113.9', ['unix'], '192.0.2.1', '203.0.113.9'],
    ['junk', ['unix'], '192.0.2.1', 'unknown'],
    [undefined, ['10.0.0.0/8'], '192.0.2.1', 'unknown'],
    ['', ['loopback', 'private'], '192.0.2.1', 'unknown'],
  ])('a peer %j, with %j trusted, naming %j is %s', (peer, trustProxy, list, client) => {
    expect(forwardedFor(trustProxy, peer, list)).toBe(client)
  })
})

describe('behind a number of proxies', () => {
  test.each<[count: number, peer: string | undefined, list: string, client: string]>([
    [0, '203.0.113.9', '192.0.2.1', '203.0.113.9'],
    [0, undefined, '192.0.2.1', 'unknown'],
    [1, '203.0.113.9', '192.0.2.1', '192.0.2.1'],
    [1, '203.0.113.9', '192.0.2.2, 192.0.2.1', '192.0.2.1'],
    [1, '203.0.113.9', '', '203.0.113.9'],
    [1, '203.0.113.9', 'junk', '203.0.113.9'],
    [1, '203.0.113.9', '192.0.2.1, ', '203.0.113.9'],
    [2, '203.0.113.9', '192.0.2.3, 192.0.2.2, 192.0.2.1', '192.0.2.2'],
    [2, '203.0.113.9', '192.0.2.1', '192.0.2.1'],
    [2, '203.0.113.9', 'junk, 192.0.2.1', '192.0.2.1'],
    [3, '203.0.113.9', '192.0.2.3, junk, 192.0.2.1', '192.0.2.1'],
    [9, '203.0.113.9', '2001:db8::3, 192.0.2.2, 192.0.2.1', '2001:db8::/64'],
    [1, undefined, '192.0.2.1', '192.0.2.1'],
    [1, '', '192.0.2.1', '192.0.2.1'],
    [1, 'junk', '192.0.2.1', '192.0.2.1'],
    [1, undefined, '', 'unknown'],
    [1, undefined, 'junk', 'unknown'],
    [2, undefined, '192.0.2.2, 192.0.2.1', '192.0.2.2'],
  ])('%d, the peer %j and the list %j make %s', (count, peer, list, client) => {
    expect(forwardedFor(count, peer, list)).toBe(client)
  })
})

describe('Forwarded', () => {
  test.each<[list: string, client: string]>([
    ['for=192.0.2.1', '192.0.2.1'],
    ['For=192.0.2.1', '192.0.2.1'],
    ['FOR="192.0.2.1"', '192.0.2.1'],
    ['for="192.0.2.1:4711"', '192.0.2.1'],
    ['for="192.0.2.1:_port"', '192.0.2.1'],
    ['for="[2001:db8:cafe::17]"', '2001:db8:cafe::/64'],
    ['for="[2001:DB8:cafe::17]:4711"', '2001:db8:cafe::/64'],
    ['for="[::ffff:192.0.2.1]"', '192.0.2.1'],
    ['for="\\1\\92.0.2.1"', '192.0.2.1'],
    ['for=192.0.2.1;proto=http;by=203.0.113.43', '192.0.2.1'],
    ['proto=http; by="_x,;for=6.6.6.6" ; for=192.0.2.1', '192.0.2.1'],
    [';;for=192.0.2.1;', '192.0.2.1'],
    ['host="a\\"b, for=6.6.6.6";for=192.0.2.1', '192.0.2.1'],
    ['host="a\\\\";for=192.0.2.1', '192.0.2.1'],
    ['for=192.0.2.1;host="a,b\\\\"', '192.0.2.1'],
    ['for=192.0.2.1;host="a,\\\\\\",b"', '192.0.2.1'],
    ['for=192.0.2.1, for=10.0.0.3;x="a, b" ,for="10.0.0.2:80"', '192.0.2.1'],
    ['for=192.0.2.2, for=192.0.2.1, for=10.0.0.2', '192.0.2.1'],
    ['for=10.0.0.3, for=10.0.0.2', '10.0.0.3'],
    ['for=192.0.2.1, for=unknown, for=10.0.0.2', '10.0.0.2'],
    ['for=192.0.2.1, for=_hidden, for=10.0.0.2', '10.0.0.2'],
    ['for=192.0.2.1, for="_hidden:80"', '10.0.0.1'],
    ['for=192.0.2.1, proto=http, for=10.0.0.2', '10.0.0.2'],
    ['for=192.0.2.1,, for=10.0.0.2', '10.0.0.2'],
  ])('%s means %s', (list, client) => {
    expect(forwarded(list)).toBe(client)
  })

  test.each([
    '',
    ',',
    ';',
    'for',
    'for=',
    'for=""',
    'for="192.0.2.1',
    'for=192.0.2.1"',
    'for= 192.0.2.1',
    'for =192.0.2.1',
    'for=192.0.2.1 proto=http',
    'for=192.0.2.1:80',
    'for=[2001:db8::1]',
    'for=2001:db8::1',
    'for="2001:db8::1"',
    'for="[192.0.2.1]"',
    'for="[2001:db8::1"',
    'for="2001:db8::1]"',
    'for="[2001:db8::1]80"',
    'for="[2001:db8::1]:"',
    'for="[2001:db8::1]:123456"',
    'for="192.0.2.1:"',
    'for="192.0.2.1:http"',
    'for=" 192.0.2.1"',
    'for="192.0.2.1 "',
    'for=192.0.2.01',
    'for=0x7f.1',
    'for=192.0.2.1;for=192.0.2.2',
    'for=192.0.2.1;For=192.0.2.1',
    'for=192.0.2.1;proto',
    'for=192.0.2.1;proto=ht tp',
    'for=192.0.2.1;proto="http"s',
    'for=192.0.2.1;x="\u0000"',
    "for='192.0.2.1'",
    'for="192.0.2.1\\"',
    'xfor=192.0.2.1',
    'by=192.0.2.1',
    '192.0.2.1',
  ])('%j names nobody', list => {
    expect(forwarded(list)).toBe('10.0.0.1')
  })

  test.each(['for=6.6.6.6;x="', '"', 'for="', 'x="\\', 'for=6.6.6.6, "\\"', '\\', 'for="6.6.6.6, \\\\'])(
    'a stranger who begins with %j cannot reach what the proxy adds',
    begun => {
      expect(forwarded(`${begun}, for=192.0.2.1`)).toBe('192.0.2.1')
      expect(forwarded(`${begun}, for="[2001:db8::1]:80";host="a\\",b"`)).toBe('2001:db8::/64')
    },
  )

  test('is counted like any list', () => {
    expect(forwarded('for=192.0.2.3, for="192.0.2.2:80", for=192.0.2.1', 2)).toBe('192.0.2.2')
  })
})

describe('a header of a single address', () => {
  test.each<[value: string, client: string]>([
    ['192.0.2.1', '192.0.2.1'],
    [' 192.0.2.1\t', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::/64'],
    ['10.0.0.7', '10.0.0.7'],
    ['192.0.2.2, 192.0.2.1', '10.0.0.1'],
    ['192.0.2.1:80', '10.0.0.1'],
    ['unknown', '10.0.0.1'],
    ['', '10.0.0.1'],
  ])('%j means %s', (value, client) => {
    const headers = { 'x-real-ip': value, 'x-forwarded-for': '6.6.6.6', forwarded: 'for=6.6.6.6' }
    expect(ask({ trustProxy: ['10.0.0.0/8'], addressFrom: 'X-Real-IP' }, '10.0.0.1', headers)).toBe(client)
    expect(ask({ trustProxy: 1, addressFrom: 'x-real-ip' }, '10.0.0.1', headers)).toBe(client)
    expect(ask({ trustProxy: 3, addressFrom: 'x-real-ip' }, '10.0.0.1', headers)).toBe(client)
  })

  test('serves where the runtime names no peer, if that is trusted', () => {
    const headers = { 'cf-connecting-ip': '192.0.2.1' }
    expect(ask({ trustProxy: 1, addressFrom: 'cf-connecting-ip' }, undefined, headers)).toBe('192.0.2.1')
    expect(ask({ trustProxy: ['unix'], addressFrom: 'cf-connecting-ip' }, undefined, headers)).toBe('192.0.2.1')
    expect(ask({ trustProxy: ['private'], addressFrom: 'cf-connecting-ip' }, undefined, headers)).toBe('unknown')
  })

  test('is not believed from a peer that is not trusted', () => {
    const options = { trustProxy: ['10.0.0.0/8'], addressFrom: 'x-real-ip' }
    expect(ask(options, '203.0.113.9', { 'x-real-ip': '192.0.2.1' })).toBe('203.0.113.9')
  })
})

test.each<[addressFrom: string | undefined, name: string]>([
  [undefined, 'x-forwarded-for'],
  ['X-Forwarded-For', 'x-forwarded-for'],
  ['Forwarded', 'forwarded'],
  ['True-Client-IP', 'true-client-ip'],
])('addressFrom %j reads %s and no other header', (addressFrom, name) => {
  const addressOf = clientAddress({ trustProxy: 1, ...(addressFrom && { addressFrom }) })
  for (const answer of [undefined, '', 'junk', '192.0.2.1']) {
    const read: string[] = []
    addressOf('10.0.0.1', header => {
      read.push(header)
      return answer
    })
    expect(read).toStrictEqual([name])
  }
})

test.each(['x-forwarded-for', 'forwarded', 'x-real-ip'])('a megabyte of %s is walked in one go', addressFrom => {
  const MANY = 1_000_000
  const options = { trustProxy: ['10.0.0.0/8'], addressFrom }
  const junk = [',', ' ', '"', '\\', ';', '\\"', ', ', ' ;', 'a', '",', 'for=', 'for=10.0.0.9;'].map(part =>
    part.repeat(MANY),
  )
  for (const list of [...junk, ...junk.map(part => `${part}x`), ...junk.map(part => `for="${part}`)]) {
    expect(ask(options, '10.0.0.1', { [addressFrom]: list })).toBe('10.0.0.1')
  }
})

test.each([
  ['x-forwarded-for', '192.0.2.1', ',10.0.0.9'],
  ['forwarded', 'for=192.0.2.1', ',for="10.0.0.9:80"'],
])('a megabyte of trusted hops in %s is walked to its end', (addressFrom, client, hop) => {
  const headers = { [addressFrom]: client + hop.repeat(100_000) }
  expect(ask({ trustProxy: ['10.0.0.0/8'], addressFrom }, '10.0.0.1', headers)).toBe('192.0.2.1')
})

describe('memory', () => {
  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc') as () => void
  const heldMegabytes = () => {
    collect()
    return process.memoryUsage().heapUsed / 2 ** 20
  }

  test('is not filled by peers that came once', () => {
    const addressOf = clientAddress({})
    const before = heldMegabytes()
    for (let n = 0; n < 200_000; n++)
      addressOf(`2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}::1`, () => '')
    expect(heldMegabytes() - before).toBeLessThan(8)
    expect(addressOf('2001:db8::1', () => '')).toBe('2001:db8::/64')
  })

  test('is not held by an answer for the header it was found in', () => {
    const addressOf = clientAddress({ trustProxy: 1 })
    const before = heldMegabytes()
    const answers = Array.from({ length: 40 }, (_, n) => {
      const list = Buffer.alloc(2 ** 20, ' ').toString('latin1')
      return addressOf('10.0.0.1', () => `${list}, 203.100.100.${100 + n}`)
    })
    expect(heldMegabytes() - before).toBeLessThan(8)
    expect(answers.at(-1)).toBe('203.100.100.139')
  })
})

describe('known holes stay closed', () => {
  const HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip']
  const spoofed = Object.fromEntries(HEADERS.map(name => [name, name === 'forwarded' ? 'for=6.6.6.6' : '6.6.6.6']))

  test('CVE-2025-59152: no X-Forwarded-For is believed unless somebody is trusted', () => {
    expect(ask({}, '203.0.113.9', spoofed)).toBe('203.0.113.9')
    expect(ask({}, '127.0.0.1', spoofed)).toBe('127.0.0.1')
    expect(ask({}, undefined, spoofed)).toBe('unknown')
  })

  test('CVE-2026-118653: what a client puts before the entry of a trusted proxy does not count', () => {
    expect(forwardedFor(['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 192.0.2.1')).toBe('192.0.2.1')
    expect(forwardedFor(1, '10.0.0.1', '6.6.6.6, 192.0.2.1')).toBe('192.0.2.1')
    expect(forwardedFor(['10.0.0.0/8'], '203.0.113.9', '6.6.6.6, 10.0.0.1')).toBe('203.0.113.9')
  })

  test.each(['CVE-2026-90711', 'CVE-2026-92395'])('%s: trusting ::ffff:10.0.0.0/8 trusts no other IPv4 peer', () => {
    expect(forwardedFor(['::ffff:10.0.0.0/8'], '203.0.113.9', '6.6.6.6')).toBe('203.0.113.9')
    expect(forwardedFor(['::ffff:10.0.0.0/8'], '::ffff:203.0.113.9', '6.6.6.6')).toBe('203.0.113.9')
    expect(forwardedFor(['::ffff:10.0.0.0/8'], '10.0.0.1', '192.0.2.1')).toBe('192.0.2.1')
  })

  test('CVE-2026-45364: a client behind a proxy gains nothing by other addresses of its network', () => {
    const clients = ['2001:db8::1', '2001:db8::ffff:1', '2001:0DB8:0:0:8000::'].map(text =>
      forwardedFor(1, '10.0.0.1', text),
    )
    expect(new Set(clients)).toStrictEqual(new Set(['2001:db8::/64']))
  })

  test('GHSA-5847-rm3g-23mw: a client is one, whether met over IPv4 or a dual-stack socket', () => {
    expect(ask({}, '::ffff:1.2.3.4')).toBe(ask({}, '1.2.3.4'))
    expect(forwardedFor(1, '10.0.0.1', '::ffff:1.2.3.4')).toBe(ask({}, '1.2.3.4'))
  })
})

describe('for any request', () => {
  const ipv4 = fc.ipV4()
  const piece = fc.oneof(
    ipv4,
    fc.ipV6(),
    ipv4.map(address => `for=${address}`),
    fc.constantFrom(
      '10.0.0.1',
      '127.0.0.1',
      '::1',
      'for="[::1]"',
      'for="',
      '',
      ' ',
      '"',
      'unknown',
      'junk',
      '1.2.3.4:80',
    ),
    fc.string({ maxLength: 8 }),
  )
  const lists = fc.array(piece, { maxLength: 6 }).map(pieces => pieces.join(','))
  const sources = fc.constantFrom('x-forwarded-for', 'forwarded', 'x-real-ip')
  const TRUST = ['10.0.0.0/8', 'loopback']

  test('nothing that an untrusted peer sends in any header changes the answer', () => {
    const outside = fc.oneof(
      ipv4.filter(address => !/^(10|127)\./.test(address)),
      fc.constantFrom('2001:db8::1', '', 'junk', '10.0.0.1:80', undefined),
    )
    fc.assert(
      fc.property(outside, sources, lists, (peer, addressFrom, list) => {
        const alone = ask({}, peer)
        expect(ask({}, peer, { [addressFrom]: list })).toBe(alone)
        expect(ask({ trustProxy: TRUST, addressFrom }, peer, { [addressFrom]: list })).toBe(alone)
        expect(ask({ trustProxy: 0, addressFrom }, peer, { [addressFrom]: list })).toBe(alone)
      }),
      { numRuns: 2000 },
    )
  })

  test('nothing in front of what a trusted proxy has written changes the answer', () => {
    const client = ipv4.filter(address => !/^(10|127)\./.test(address))
    fc.assert(
      fc.property(client, lists, fc.constantFrom(TRUST, 1), (address, list, trustProxy) => {
        expect(forwardedFor(trustProxy, '10.0.0.1', `${list},${address}`)).toBe(address)
        expect(forwarded(`${list},for="${address}:80"`, trustProxy)).toBe(address)
      }),
      { numRuns: 2000 },
    )
  })

  test('the answer is canonical', () => {
    const peers = fc.oneof(ipv4, fc.ipV6(), fc.constantFrom('10.0.0.1', '127.0.0.1', '', undefined, 'junk'))
    fc.assert(
      fc.property(
        peers,
        sources,
        lists,
        fc.constantFrom(TRUST, 1, 2, ['unix']),
        (peer, addressFrom, list, trustProxy) => {
          const answer = ask({ trustProxy, addressFrom }, peer, { [addressFrom]: list })
          expect(answer === 'unknown' || ask({}, answer.replace(/\/64$/, '')) === answer).toBe(true)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('an option is refused', () => {
  const SEE = ' [SLUICE_BAD_OPTION, see node_modules/sluice/errors.md#sluice_bad_option]'
  const TRUST = 'expected trustProxy as a list of ranges or the number of proxies in front, got '
  const FROM = "expected addressFrom as a header's name such as 'forwarded' or 'x-real-ip', got "
  const RANGE = "expected trustProxy as '10.0.0.0/8', '2001:db8::/32', 'loopback', 'private' …, got "

  test.each<[options: unknown, complaint: string]>([
    [{ ipv6Prefix: 31 }, 'expected ipv6Prefix as a whole number from 32 to 128, got 31'],
    [{ ipv6Prefix: 129 }, 'expected ipv6Prefix as a whole number from 32 to 128, got 129'],
    [{ ipv6Prefix: 64.5 }, 'expected ipv6Prefix as a whole number from 32 to 128, got 64.5'],
    [{ ipv6Prefix: NaN }, 'expected ipv6Prefix as a whole number from 32 to 128, got NaN'],
    [{ ipv6Prefix: '64' }, "expected ipv6Prefix as a whole number from 32 to 128, got '64'"],
    [{ ipv6Prefix: null }, 'expected ipv6Prefix as a whole number from 32 to 128, got null'],
    [
      { trustProxy: true },
      `${TRUST}true; true would trust everybody's header; list your proxies' ranges, or write how many there are`,
    ],
    [{ trustProxy: false }, `${TRUST}false; leave it out to trust nobody`],
    [{ trustProxy: null }, `${TRUST}null; leave it out to trust nobody`],
    [{ trustProxy: -1 }, `${TRUST}-1`],
    [{ trustProxy: 1.5 }, `${TRUST}1.5`],
    [{ trustProxy: NaN }, `${TRUST}NaN`],
    [{ trustProxy: Infinity }, `${TRUST}Infinity`],
    [{ trustProxy: '1' }, `${TRUST}'1'; write a list, such as ['10.0.0.0/8'], or a number without quotes`],
    [{ trustProxy: 'private' }, `${TRUST}'private'; write a list, such as ['10.0.0.0/8'], or a number without quotes`],
    [{ trustProxy: {} }, `${TRUST}an object with no properties`],
    [{ trustProxy: () => true }, `${TRUST}a function`],
    [{ trustProxy: ['everyone'] }, `${RANGE}'everyone'`],
    [{ trustProxy: ['Unix'] }, `${RANGE}'Unix'`],
    [{ trustProxy: [1] }, `${RANGE}1`],
    [{ trustProxy: ['0.0.0.0/0'] }, `${RANGE}'0.0.0.0/0'; that is everybody; list the ranges that you mean`],
    [{ trustProxy: 1, addressFrom: '' }, `${FROM}''`],
    [{ trustProxy: 1, addressFrom: 'x real ip' }, `${FROM}'x real ip'`],
    [{ trustProxy: 1, addressFrom: 'x-real-ip:' }, `${FROM}'x-real-ip:'`],
    [{ trustProxy: 1, addressFrom: 7 }, `${FROM}7`],
    [{ trustProxy: 1, addressFrom: null }, `${FROM}null`],
    [
      { addressFrom: 'cf-connecting-ip' },
      "expected addressFrom together with trustProxy, got 'cf-connecting-ip'; add trustProxy, the ranges or the number of the proxies that set it, since anyone can send a header",
    ],
  ])('%o', (options, complaint) => {
    expect(messageOf(options)).toBe(complaint + SEE)
  })
})
