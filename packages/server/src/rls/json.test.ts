import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyRequest } from '../fixtures/rls/messages.ts'
import { GrpcError } from './grpc/grpc-status.ts'
import { answerJson } from './json.ts'
import type { Descriptor, RateLimitRequest, RateLimitResponse, RateLimitService } from './service.ts'

const PASSED: RateLimitResponse = { overall: 1, statuses: [{ code: 1, limitRemaining: 0 }] }
const ENTRIES = [{ key: 'user', value: '42' }]

const answering = (response: RateLimitResponse): RateLimitService => ({ shouldRateLimit: () => response })

/** What the service is asked, or the answer if it is not. */
async function asked(body: unknown): Promise<unknown> {
  let seen: RateLimitRequest | undefined
  const service: RateLimitService = {
    shouldRateLimit(request) {
      seen = request
      return PASSED
    },
  }
  const { status, body: answer } = await answerJson(service, typeof body === 'string' ? body : JSON.stringify(body))
  return seen ?? [status, JSON.parse(answer).message]
}

describe('a request', () => {
  const one = (over: Partial<Descriptor>, hitsAddend = 0): RateLimitRequest => ({
    domain: 'edge',
    descriptors: [{ entries: ENTRIES, limit: undefined, hitsAddend: undefined, ...over }],
    hitsAddend,
  })
  const withDescriptor = (over: object) => ({ domain: 'edge', descriptors: [{ entries: ENTRIES, ...over }] })
  const withHits = (hitsAddend: unknown) => ({ ...withDescriptor({}), hitsAddend })

  test.each<[what: string, body: object, expected: RateLimitRequest]>([
    ['plain', withDescriptor({}), one({})],
    ['with nulls', { ...withDescriptor({ limit: null, hitsAddend: null }), hitsAddend: null }, one({})],
    ['in camel case', withHits(3), one({}, 3)],
    ['in snake case', { ...withDescriptor({ hits_addend: 4 }), hits_addend: 3 }, one({ hitsAddend: 4 }, 3)],
    ['with a number as a string', withHits('4294967295'), one({}, 4_294_967_295)],
    ['with a float that is whole', withHits(1e3), one({}, 1000)],
    ['that only looks', withDescriptor({ hitsAddend: '0' }), one({ hitsAddend: 0 })],
    ['of 2^53 - 1', withDescriptor({ hitsAddend: '9007199254740991' }), one({ hitsAddend: 2 ** 53 - 1 })],
    ['of 2^53', withDescriptor({ hitsAddend: '9007199254740992' }), one({ hitsAddend: 2 ** 53 - 1 })],
    ['of 2^64 - 1', withDescriptor({ hitsAddend: '18446744073709551615' }), one({ hitsAddend: 2 ** 53 - 1 })],
    [
      'with a unit by name',
      withDescriptor({ limit: { requestsPerUnit: 5, unit: 'MINUTE' } }),
      one({ limit: { requestsPerUnit: 5, unit: 2 } }),
    ],
    [
      'with a unit by number',
      withDescriptor({ limit: { requests_per_unit: '5', unit: 7 } }),
      one({ limit: { requestsPerUnit: 5, unit: 7 } }),
    ],
    [
      'without a value',
      { domain: 'edge', descriptors: [{ entries: [{ key: 'user' }] }] },
      one({ entries: [{ key: 'user', value: '' }] }),
    ],
  ])('%s is understood', async (_, body, expected) => {
    expect(await asked(body)).toEqual(expected)
  })

  test('keeps any content', async () => {
    await fc.assert(
      fc.asyncProperty(anyRequest, async request => {
        expect(await asked(request)).toEqual(request)
      }),
    )
  })

  const UNITS = 'SECOND, MINUTE, HOUR, DAY, MONTH, YEAR, WEEK'
  test.each<[what: string, body: unknown, message: string]>([
    ['nothing', '', 'expected JSON'],
    ['not JSON', '{', 'expected JSON'],
    ['null', null, 'the request: expected an object, got null'],
    ['an array', [], 'the request: expected an object, got []'],
    ['no domain', { descriptors: [{ entries: ENTRIES }] }, 'expected a domain, got an empty one'],
    ['a domain of 5', { domain: 5 }, 'domain: expected a string of Unicode, got 5'],
    ['half a character', { domain: '\ud83d' }, 'domain: expected a string of Unicode, got "\\ud83d"'],
    ['no descriptors', { domain: 'edge' }, 'expected a descriptor, got none'],
    ['an object for a list', { descriptors: {} }, 'descriptors: expected an array, got {}'],
    [
      '10,000 descriptors',
      { domain: 'edge', descriptors: Array(10_000).fill({ entries: ENTRIES }) },
      'expected at most 1000 descriptors, got more',
    ],
    [
      '101 entries',
      withDescriptor({ entries: Array(101).fill(ENTRIES[0]) }),
      'expected at most 100 entries in a descriptor, got more',
    ],
    ['no entries', withDescriptor({ entries: [] }), 'expected an entry in every descriptor, got a descriptor without'],
    ['no key', withDescriptor({ entries: [{ value: 'v' }] }), 'expected a key in every entry, got an empty one'],
    [
      'a text for an entry',
      withDescriptor({ entries: ['x'] }),
      'descriptors[0].entries[0]: expected an object, got "x"',
    ],
    [
      'a field that is not there',
      { ...withDescriptor({}), hits: 1 },
      'the request: expected no fields but domain, descriptors, hitsAddend, got "hits"',
    ],
    [
      '__proto__',
      '{"__proto__":{"domain":"edge"}}',
      'the request: expected no fields but domain, descriptors, hitsAddend, got "__proto__"',
    ],
    [
      'a field by both its names',
      { ...withHits(1), hits_addend: 1 },
      'the request: expected hitsAddend once, got "hits_addend"',
    ],
    ['hits below 0', withHits(-1), 'hitsAddend: expected an integer from 0 to 4294967295, got -1'],
    ['hits of 2^32', withHits(2 ** 32), 'hitsAddend: expected an integer from 0 to 4294967295, got 4294967296'],
    ['a part of a hit', withHits(0.5), 'hitsAddend: expected an integer from 0 to 4294967295, got 0.5'],
    [
      'hits without end',
      `{"domain":"edge","hitsAddend":1e999}`,
      'hitsAddend: expected an integer from 0 to 4294967295, got Infinity',
    ],
    ['hits in words', withHits('three'), 'hitsAddend: expected an integer from 0 to 4294967295, got "three"'],
    ['hits of true', withHits(true), 'hitsAddend: expected an integer from 0 to 4294967295, got true'],
    [
      'hits of 2^64',
      withDescriptor({ hitsAddend: '18446744073709551616' }),
      'descriptors[0].hitsAddend: expected an integer from 0 to 18446744073709551615, got "18446744073709551616"',
    ],
    [
      'hits of a hundred digits',
      withHits('9'.repeat(100)),
      `hitsAddend: expected an integer from 0 to 4294967295, got "${'9'.repeat(38)}…`,
    ],
    [
      'no unit',
      withDescriptor({ limit: { requestsPerUnit: 1 } }),
      `expected ${UNITS} as the unit of a limit, got UNKNOWN`,
    ],
    [
      'the unit UNKNOWN',
      withDescriptor({ limit: { unit: 'UNKNOWN' } }),
      `expected ${UNITS} as the unit of a limit, got UNKNOWN`,
    ],
    [
      'a unit of another name',
      withDescriptor({ limit: { unit: 'second' } }),
      `descriptors[0].limit.unit: expected one of UNKNOWN, ${UNITS}, got "second"`,
    ],
    [
      'a unit of 8',
      withDescriptor({ limit: { unit: 8 } }),
      `descriptors[0].limit.unit: expected one of UNKNOWN, ${UNITS}, got 8`,
    ],
    [
      'a unit of 1.5',
      withDescriptor({ limit: { unit: 1.5 } }),
      `descriptors[0].limit.unit: expected one of UNKNOWN, ${UNITS}, got 1.5`,
    ],
  ])('with %s is a 400, and the service is not asked', async (_, body, message) => {
    expect(await asked(body)).toEqual([400, message])
  })
})

describe('an answer', () => {
  const ask = (service: RateLimitService, onError?: (error: unknown) => void) =>
    answerJson(service, JSON.stringify({ domain: 'edge', descriptors: [{ entries: ENTRIES }] }), onError)

  test.each<[what: string, response: RateLimitResponse, status: number, body: object]>([
    ['no rule', PASSED, 200, { overallCode: 'OK', statuses: [{ code: 'OK' }] }],
    [
      'a limit',
      {
        overall: 1,
        statuses: [
          {
            code: 1,
            currentLimit: { requestsPerUnit: 10, unit: 1, name: 'per-user' },
            limitRemaining: 9,
            resetMs: 400,
          },
        ],
      },
      200,
      {
        overallCode: 'OK',
        statuses: [
          {
            code: 'OK',
            currentLimit: { requestsPerUnit: 10, unit: 'SECOND', name: 'per-user' },
            limitRemaining: 9,
            durationUntilReset: '0.400s',
          },
        ],
      },
    ],
    [
      'a refusal',
      {
        overall: 2,
        statuses: [{ code: 2, currentLimit: { requestsPerUnit: 0, unit: 7 }, limitRemaining: 0, resetMs: 86_400_000 }],
      },
      429,
      {
        overallCode: 'OVER_LIMIT',
        statuses: [{ code: 'OVER_LIMIT', currentLimit: { unit: 'WEEK' }, durationUntilReset: '86400s' }],
      },
    ],
    [
      'no limit at all',
      {
        overall: 1,
        statuses: [{ code: 1, limitRemaining: Infinity, resetMs: 0 }],
        headers: [{ key: 'x-limit', value: '' }],
      },
      200,
      {
        overallCode: 'OK',
        statuses: [{ code: 'OK', limitRemaining: 4_294_967_295, durationUntilReset: '0s' }],
        responseHeadersToAdd: [{ key: 'x-limit' }],
      },
    ],
    [
      'a microsecond',
      { overall: 1, statuses: [{ code: 1, limitRemaining: 0, resetMs: 1.001 }] },
      200,
      { overallCode: 'OK', statuses: [{ code: 'OK', durationUntilReset: '0.001001s' }] },
    ],
    ['nothing', { overall: 1, statuses: [], headers: [] }, 200, { overallCode: 'OK' }],
  ])('of %s is what proto3 makes of it', async (_, response, status, body) => {
    const answer = await ask(answering(response))
    expect([answer.status, JSON.parse(answer.body)]).toEqual([status, body])
  })

  test.each<[error: unknown, status: number, body: object]>([
    [new GrpcError('INVALID_ARGUMENT', 'no such domain'), 400, { code: 3, message: 'no such domain' }],
    [new GrpcError('UNAVAILABLE', 'no rules yet'), 500, { code: 14, message: 'no rules yet' }],
    [new Error('the password is swordfish'), 500, { code: 13, message: 'the request could not be answered' }],
  ])('to %s tells what may be told', async (error, status, body) => {
    const heard: unknown[] = []
    const throwing = {
      shouldRateLimit: () => {
        throw error
      },
    }
    const rejecting = { shouldRateLimit: () => Promise.reject(error) }
    for (const service of [throwing, rejecting]) {
      const answer = await ask(service, e => heard.push(e))
      expect([answer.status, JSON.parse(answer.body)]).toEqual([status, body])
    }
    expect(heard).toEqual(error instanceof GrpcError ? [] : [error, error])
  })
})
