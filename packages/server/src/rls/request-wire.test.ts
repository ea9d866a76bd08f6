import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyRequest } from '../fixtures/rls/messages.ts'
import { rateLimitService, shippedService } from '../fixtures/rls/protos.ts'
import { GrpcError } from './grpc/grpc-status.ts'
import { decodeRequest } from './request-wire.ts'
import type { RateLimitRequest } from './service.ts'

/** The bytes that Envoy's protos make of it. */
function bytesOf({ domain, descriptors, hitsAddend }: RateLimitRequest, service = rateLimitService): Buffer {
  return service.ShouldRateLimit!.requestSerialize({
    domain,
    hitsAddend,
    descriptors: descriptors.map(({ hitsAddend: hits, ...rest }) =>
      hits === undefined ? rest : { ...rest, hitsAddend: { value: hits } },
    ),
  })
}

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const complaint = (bytes: Buffer) => {
  try {
    decodeRequest(bytes)
  } catch (error) {
    return error instanceof GrpcError ? `${error.grpc}: ${error.message}` : error
  }
  return 'none'
}

// domain 'd', one descriptor with the entry k = v
const DOMAIN = '0a 01 64'
const ENTRY = '0a 06 0a 01 6b 12 01 76'
const PLAIN: RateLimitRequest = {
  domain: 'd',
  descriptors: [{ entries: [{ key: 'k', value: 'v' }], limit: undefined, hitsAddend: undefined }],
  hitsAddend: 0,
}
const only = (over: Partial<RateLimitRequest['descriptors'][0]>): RateLimitRequest => ({
  ...PLAIN,
  descriptors: [{ ...PLAIN.descriptors[0]!, ...over }],
})

test('any request is read as Envoy means it', () => {
  fc.assert(
    fc.property(anyRequest, request => {
      expect(decodeRequest(bytesOf(request))).toEqual(request)
    }),
    { numRuns: 500 },
  )
})

test('any request is read as the protos that Envoy ships read it', () => {
  const withoutHits = anyRequest.map(request => ({
    ...request,
    descriptors: request.descriptors.map(descriptor => ({ ...descriptor, hitsAddend: undefined })),
  }))
  fc.assert(
    fc.property(withoutHits, request => {
      expect(decodeRequest(bytesOf(request, shippedService))).toEqual(request)
    }),
    { numRuns: 200 },
  )
})

test.each<[what: string, bytes: string, expected: RateLimitRequest]>([
  ['the least there is', `${DOMAIN} 12 08 ${ENTRY}`, PLAIN],
  ['fields in another order', `12 08 ${ENTRY} ${DOMAIN}`, PLAIN],
  ['an unknown number', `${DOMAIN} 12 08 ${ENTRY} f8 07 96 01`, PLAIN],
  ['an unknown text', `${DOMAIN} 12 08 ${ENTRY} fa 07 02 ff ff`, PLAIN],
  ['unknown fixed numbers', `${DOMAIN} 12 08 ${ENTRY} 21 0000000000000000 25 00000000`, PLAIN],
  ['an unknown group in a group', `${DOMAIN} 12 08 ${ENTRY} 23 2b 08 01 2c 24`, PLAIN],
  ['a known field of another type', `${DOMAIN} 08 05 12 08 ${ENTRY} 1a 01 07`, PLAIN],
  ['a text twice', `0a 01 61 ${DOMAIN} 12 08 ${ENTRY}`, PLAIN],
  ['a number in more bytes than it needs', `${DOMAIN} 12 08 ${ENTRY} 18 87 80 80 80 00`, { ...PLAIN, hitsAddend: 7 }],
  ['a number of more than 32 bits', `${DOMAIN} 12 08 ${ENTRY} 18 85 80 80 80 80 20`, { ...PLAIN, hitsAddend: 5 }],
  [
    'a limit in two parts',
    `${DOMAIN} 12 10 ${ENTRY} 12 02 08 09 12 02 10 03`,
    only({ limit: { requestsPerUnit: 9, unit: 3 } }),
  ],
  ['hits that are there and empty', `${DOMAIN} 12 0a ${ENTRY} 1a 00`, only({ hitsAddend: 0 })],
  [
    'hits of 2^53',
    `${DOMAIN} 12 13 ${ENTRY} 1a 09 08 80 80 80 80 80 80 80 10`,
    only({ hitsAddend: Number.MAX_SAFE_INTEGER }),
  ],
  [
    'hits of 2^64 - 1',
    `${DOMAIN} 12 15 ${ENTRY} 1a 0b 08 ff ff ff ff ff ff ff ff ff 01`,
    only({ hitsAddend: Number.MAX_SAFE_INTEGER }),
  ],
  ['a byte order mark', '0a 03 efbbbf 12 08 0a060a016b120176', { ...PLAIN, domain: '\ufeff' }],
])('%s is read as protobuf says', (_, bytes, expected) => {
  expect(decodeRequest(hex(bytes))).toEqual(expected)
})

describe('a clear INVALID_ARGUMENT', () => {
  const NOT_PROTOBUF = 'INVALID_ARGUMENT: the message is not valid protobuf: expected'

  test.each<[what: string, bytes: string, expected: string]>([
    ['nothing', '', 'INVALID_ARGUMENT: expected a domain, got an empty one'],
    ['no domain', `12 08 ${ENTRY}`, 'INVALID_ARGUMENT: expected a domain, got an empty one'],
    ['no descriptor', DOMAIN, 'INVALID_ARGUMENT: expected a descriptor, got none'],
    [
      'a descriptor without entries',
      `${DOMAIN} 12 00`,
      'INVALID_ARGUMENT: expected an entry in every descriptor, got a descriptor without',
    ],
    [
      'an entry without a key',
      `${DOMAIN} 12 05 0a 03 12 01 76`,
      'INVALID_ARGUMENT: expected a key in every entry, got an empty one',
    ],
    [
      'a limit of unit UNKNOWN',
      `${DOMAIN} 12 0c ${ENTRY} 12 02 08 09`,
      'INVALID_ARGUMENT: expected SECOND, MINUTE, HOUR, DAY, MONTH, YEAR, WEEK as the unit of a limit, got UNKNOWN',
    ],
    [
      'a limit of unit 8',
      `${DOMAIN} 12 0c ${ENTRY} 12 02 10 08`,
      'INVALID_ARGUMENT: expected SECOND, MINUTE, HOUR, DAY, MONTH, YEAR, WEEK as the unit of a limit, got 8',
    ],
    [
      'a limit of a negative unit',
      `${DOMAIN} 12 15 ${ENTRY} 12 0b 10 ff ff ff ff ff ff ff ff ff 01`,
      'INVALID_ARGUMENT: expected SECOND, MINUTE, HOUR, DAY, MONTH, YEAR, WEEK as the unit of a limit, got -1',
    ],
    ['a text that is cut off', '0a 05 64', `${NOT_PROTOBUF} as many bytes as were announced`],
    [
      'a text longer than its message',
      `${DOMAIN} 12 04 0a 03 0a 05`,
      `${NOT_PROTOBUF} as many bytes as were announced`,
    ],
    ['a message longer than its message', `${DOMAIN} 12 02 0a 03`, `${NOT_PROTOBUF} as many bytes as were announced`],
    ['a length of 2^64 - 1', '0a ff ff ff ff ff ff ff ff ff 01', `${NOT_PROTOBUF} as many bytes as were announced`],
    ['a message of 2^64 - 1', '12 ff ff ff ff ff ff ff ff ff 01', `${NOT_PROTOBUF} as many bytes as were announced`],
    ['a number that is cut off', `${DOMAIN} 18 80`, `${NOT_PROTOBUF} as many bytes as were announced`],
    ['a fixed number that is cut off', '21 00', `${NOT_PROTOBUF} as many bytes as were announced`],
    [
      'a varint of eleven bytes',
      '18 80 80 80 80 80 80 80 80 80 80 01',
      `${NOT_PROTOBUF} no varint of more than 64 bits`,
    ],
    ['a varint of 65 bits', '18 80 80 80 80 80 80 80 80 80 02', `${NOT_PROTOBUF} no varint of more than 64 bits`],
    ['field 0', '00 00', `${NOT_PROTOBUF} a field number from 1 to 536870911`],
    ['field 2^29', '80 80 80 80 10 00', `${NOT_PROTOBUF} a field number from 1 to 536870911`],
    ['wire type 6', '0e 00', `${NOT_PROTOBUF} a wire type from 0 to 5`],
    ['the end of a group that never began', '24', `${NOT_PROTOBUF} every group to end where it began`],
    ['a group that ends as another', '23 2c', `${NOT_PROTOBUF} every group to end where it began`],
    ['a group that never ends', '23', `${NOT_PROTOBUF} as many bytes as were announced`],
    ['101 groups in each other', '23'.repeat(101), `${NOT_PROTOBUF} groups nested no deeper than 100`],
    ['a byte that is not UTF-8', '0a 01 ff', `${NOT_PROTOBUF} valid UTF-8 in every string`],
    ['half of a surrogate pair', '0a 03 ed a0 80', `${NOT_PROTOBUF} valid UTF-8 in every string`],
    ['an overlong slash', '0a 02 c0 af', `${NOT_PROTOBUF} valid UTF-8 in every string`],
  ])('answers %s', (_, bytes, expected) => {
    expect(complaint(hex(bytes))).toBe(expected)
  })

  test.each([
    [1000, 'none'],
    [1001, 'INVALID_ARGUMENT: expected at most 1000 descriptors, got more'],
    [10_000, 'INVALID_ARGUMENT: expected at most 1000 descriptors, got more'],
  ])('answers more than a thousand descriptors: %i', (count, expected) => {
    expect(complaint(hex(`${DOMAIN} ${`12 08 ${ENTRY}`.repeat(count)}`))).toBe(expected)
  })

  test.each([
    [100, 'none'],
    [101, 'INVALID_ARGUMENT: expected at most 100 entries in a descriptor, got more'],
  ])('answers more than a hundred entries: %i', (count, expected) => {
    const entries = Array.from({ length: count }, () => ({ key: 'k', value: 'v' }))
    const request = { ...PLAIN, descriptors: [{ entries }] }
    expect(complaint(bytesOf(request))).toBe(expected)
  })
})

test('any bytes are a request or a clear error', () => {
  const noise = fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes))
  const change = fc.record({ at: fc.nat(1000), byte: fc.nat(255), cut: fc.nat(4) })
  const damaged = fc.tuple(anyRequest, fc.array(change, { minLength: 1, maxLength: 4 })).map(([request, changes]) => {
    const bytes = bytesOf(request)
    for (const { at, byte } of changes) bytes[at % bytes.length] = byte
    return bytes.subarray(0, bytes.length - changes[0]!.cut)
  })
  let complaints = 0
  fc.assert(
    fc.property(fc.oneof(noise, damaged), bytes => {
      const said = complaint(bytes)
      expect(said).toMatch(/^(none$|INVALID_ARGUMENT: )/)
      if (said !== 'none') complaints++
    }),
    { numRuns: 3000 },
  )
  expect(complaints).toBeGreaterThan(1000)
})
