import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyResponse } from '../fixtures/rls/messages.ts'
import { namedService, shippedService } from '../fixtures/rls/protos.ts'
import { encodeResponse } from './response-wire.ts'
import { CODES, type RateLimitResponse, type Status, UNITS } from './service.ts'

const PREFIX_BYTES = 5
const { responseDeserialize, responseSerialize } = shippedService.ShouldRateLimit!

/** What Envoy's protos read. */
const read = (response: RateLimitResponse) => responseDeserialize(encodeResponse(response).subarray(PREFIX_BYTES))

/** What they should read: 0 and '' stand for what is not there. */
const seen = ({ overall, statuses, headers = [] }: RateLimitResponse) => ({
  overallCode: overall,
  statuses: statuses.map(({ code, currentLimit, limitRemaining, resetMs }) => ({
    code,
    currentLimit: currentLimit === undefined ? null : { ...currentLimit, name: currentLimit.name ?? '' },
    limitRemaining,
    durationUntilReset:
      resetMs === undefined
        ? null
        : { seconds: String(Math.floor(resetMs / 1000)), nanos: (resetMs % 1000) * 1_000_000 },
  })),
  responseHeadersToAdd: headers,
  requestHeadersToAdd: [],
})

test('Envoy reads any answer as it was written', () => {
  fc.assert(
    fc.property(anyResponse, response => {
      expect(read(response)).toMatchObject(seen(response))
    }),
    { numRuns: 500 },
  )
})

test('the bytes are those that the protos of Envoy make', () => {
  const response: RateLimitResponse = {
    overall: 2,
    statuses: [
      { code: 2, currentLimit: { requestsPerUnit: 300, unit: 2, name: 'per-user' }, limitRemaining: 7, resetMs: 1500 },
      { code: 1, currentLimit: { requestsPerUnit: 1, unit: 7 }, limitRemaining: 4_294_967_295 },
      { code: 1, limitRemaining: 0 },
    ],
    headers: [{ key: 'x-limited-by', value: 'per-user' }],
  }
  const theirs = responseSerialize({
    overallCode: 2,
    statuses: [
      {
        code: 2,
        currentLimit: { requestsPerUnit: 300, unit: 2, name: 'per-user' },
        limitRemaining: 7,
        durationUntilReset: { seconds: 1, nanos: 500_000_000 },
      },
      { code: 1, currentLimit: { requestsPerUnit: 1, unit: 7 }, limitRemaining: 4_294_967_295 },
      { code: 1 },
    ],
    responseHeadersToAdd: [{ key: 'x-limited-by', value: 'per-user' }],
  })
  const frame = encodeResponse(response)
  expect(frame.subarray(PREFIX_BYTES).toString('hex')).toBe(theirs.toString('hex'))
  expect([frame[0], frame.readUInt32BE(1)]).toEqual([0, theirs.length])
})

test.each<[what: string, status: Partial<Status>, expected: object]>([
  ['no end of what remains', { limitRemaining: Infinity }, { limitRemaining: 4_294_967_295 }],
  ['less than nothing', { limitRemaining: -1 }, { limitRemaining: 0 }],
  ['no number', { limitRemaining: Number.NaN }, { limitRemaining: 0 }],
  ['a part of one', { limitRemaining: 1.9 }, { limitRemaining: 1 }],
  [
    'a limit without end',
    { currentLimit: { requestsPerUnit: Infinity, unit: 1 } },
    { currentLimit: { requestsPerUnit: 4_294_967_295 } },
  ],
  ['a microsecond', { resetMs: 0.001 }, { durationUntilReset: { seconds: '0', nanos: 1000 } }],
  ['all but a second', { resetMs: 999.999_999_9 }, { durationUntilReset: { seconds: '0', nanos: 999_999_999 } }],
  ['never', { resetMs: Infinity }, { durationUntilReset: { seconds: '315576000000', nanos: 0 } }],
  ['a time that has passed', { resetMs: -5 }, { durationUntilReset: { seconds: '0', nanos: 0 } }],
])('%s is the nearest that the protocol can say', (_, status, expected) => {
  const response = read({ overall: 1, statuses: [{ code: 1, limitRemaining: 0, ...status }] })
  expect(response).toMatchObject({ statuses: [expected] })
})

test('an answer that failed halfway leaves nothing in the next one', () => {
  const broken = { overall: 1, statuses: [null, { code: 1, limitRemaining: 5 }] } as unknown as RateLimitResponse
  expect(() => encodeResponse(broken)).toThrow(TypeError)
  expect(encodeResponse({ overall: 1, statuses: [] }).toString('hex')).toBe('00000000020801')
})

test('an answer may be larger than the first buffer', () => {
  const name = 'n'.repeat(300)
  const status: Status = { code: 1, currentLimit: { requestsPerUnit: 1, unit: 1, name }, limitRemaining: 1 }
  const response: RateLimitResponse = { overall: 1, statuses: Array.from({ length: 1000 }, () => status) }
  expect(read(response)).toMatchObject(seen(response))
})

test('codes and units have the names that they have in the protos', () => {
  const { responseDeserialize } = namedService.ShouldRateLimit!
  const named = (unit: number, code: number) =>
    responseDeserialize(
      responseSerialize({ overallCode: code, statuses: [{ currentLimit: { requestsPerUnit: 1, unit } }] }),
    )
  // A week came later.
  for (const [unit, name] of UNITS.slice(0, -1).entries()) {
    expect(named(unit, 0)).toMatchObject({ statuses: [{ currentLimit: { unit: name } }] })
  }
  for (const [code, name] of CODES.entries()) expect(named(0, code)).toMatchObject({ overallCode: name })
})
