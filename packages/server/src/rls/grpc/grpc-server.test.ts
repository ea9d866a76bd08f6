import { compressionAlgorithms, credentials } from '@grpc/grpc-js'
import { describe, expect, test } from 'vitest'
import { ownCertificate } from '../../fixtures/rls/certificate.ts'
import { call, clientOf, REQUEST } from '../../fixtures/rls/client.ts'
import { rateLimitService } from '../../fixtures/rls/protos.ts'
import { PASSED, started } from '../../fixtures/rls/started.ts'
import type { RateLimitRequest, RateLimitResponse } from '../service.ts'
import { startGrpc } from './grpc-server.ts'
import { GrpcError } from './grpc-status.ts'

const LIMITED: RateLimitResponse = {
  overall: 2,
  statuses: [
    { code: 1, currentLimit: { requestsPerUnit: 100, unit: 2, name: 'per-ip' }, limitRemaining: 12, resetMs: 4000 },
    { code: 2, currentLimit: { requestsPerUnit: 5, unit: 1 }, limitRemaining: 0, resetMs: 250 },
  ],
}
const LIMITED_TO_ENVOY = {
  overallCode: 2,
  statuses: [
    {
      code: 1,
      currentLimit: { requestsPerUnit: 100, unit: 2, name: 'per-ip' },
      limitRemaining: 12,
      durationUntilReset: { seconds: '4', nanos: 0 },
    },
    {
      code: 2,
      currentLimit: { requestsPerUnit: 5, unit: 1, name: '' },
      limitRemaining: 0,
      durationUntilReset: { seconds: '0', nanos: 250_000_000 },
    },
  ],
}

test('the request reaches the service unchanged, and the answer reaches the client unchanged', async () => {
  const asked: RateLimitRequest[] = []
  const server = await started(request => {
    asked.push(request)
    return LIMITED
  })
  const request = {
    domain: 'edge',
    descriptors: [
      {
        entries: [
          { key: 'ip', value: '203.0.113.7' },
          { key: 'path', value: '/café' },
        ],
        hitsAddend: { value: 3 },
      },
      { entries: [{ key: 'user', value: '' }], limit: { requestsPerUnit: 5, unit: 1 } },
    ],
    hitsAddend: 2,
  }
  expect(await call(clientOf(server), request)).toMatchObject(LIMITED_TO_ENVOY)
  expect(asked).toEqual([
    {
      ...request,
      descriptors: [
        { ...request.descriptors[0], limit: undefined, hitsAddend: 3 },
        { ...request.descriptors[1], hitsAddend: undefined },
      ],
    },
  ])
})

test('the service may answer later', async () => {
  const server = await started(() => new Promise(resolve => setImmediate(resolve, LIMITED)))
  expect(await call(clientOf(server))).toMatchObject(LIMITED_TO_ENVOY)
})

test('each of five hundred calls at once gets its own answer, in whatever order the answers come', async () => {
  const waiting: (() => void)[] = []
  const server = await started(({ hitsAddend }) => {
    const answer: RateLimitResponse = { overall: 1, statuses: [{ code: 1, limitRemaining: hitsAddend }] }
    if (hitsAddend % 3 === 0) return answer
    return new Promise(resolve => {
      waiting.push(() => resolve(answer))
      // The last one lets all go, the latest first.
      if (waiting.length === 334) for (const go of waiting.reverse()) go()
    })
  })
  const client = clientOf(server)
  const answers = Array.from({ length: 500 }, (_, i) => call(client, { ...REQUEST, hitsAddend: i + 1 }))
  for (const [i, answer] of (await Promise.all(answers)).entries()) {
    expect(answer).toMatchObject({ statuses: [{ limitRemaining: i + 1 }] })
  }
})

test('a compressed request is answered like any other', async () => {
  const client = clientOf(await started(), undefined, {
    'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
  })
  expect(await call(client)).toMatchObject({ overallCode: 1 })
})

describe('an error', () => {
  test.each<[thrown: unknown, told: string]>([
    [
      new GrpcError('INVALID_ARGUMENT', 'there is no domain 100 % “edge”'),
      'INVALID_ARGUMENT: there is no domain 100 % “edge”',
    ],
    [Object.assign(new Error('no rules yet'), { grpc: 'UNAVAILABLE' }), 'UNAVAILABLE: no rules yet'],
    [new Error('the password is swordfish'), 'INTERNAL: the request could not be answered'],
    [Object.assign(new Error('all is well'), { grpc: 'OK' }), 'INTERNAL: the request could not be answered'],
    [undefined, 'INTERNAL: the request could not be answered'],
  ])('of the service reaches the caller only if it has a gRPC status: %s', async (thrown, told) => {
    const heard: unknown[] = []
    const onError = (error: unknown) => heard.push(error)
    const throwing = await started(
      () => {
        throw thrown
      },
      { onError },
    )
    const rejecting = await started(() => Promise.reject(thrown), { onError })
    expect(await call(clientOf(throwing))).toBe(told)
    expect(await call(clientOf(rejecting))).toBe(told)
    expect(heard).toEqual(told.startsWith('INTERNAL') ? [thrown, thrown] : [])
  })

  test('is reported if the service gives an invalid answer, too', async () => {
    const heard: unknown[] = []
    const server = await started(async () => null as unknown as RateLimitResponse, { onError: e => heard.push(e) })
    expect(await call(clientOf(server))).toBe('INTERNAL: the request could not be answered')
    expect(heard).toEqual([expect.any(TypeError)])
  })

  test.each<[what: string, request: object, told: string]>([
    ['no domain', { ...REQUEST, domain: '' }, 'INVALID_ARGUMENT: expected a domain, got an empty one'],
    ['no descriptors', { ...REQUEST, descriptors: [] }, 'INVALID_ARGUMENT: expected a descriptor, got none'],
    [
      '10,000 descriptors',
      { ...REQUEST, descriptors: Array.from({ length: 10_000 }, () => REQUEST.descriptors[0]) },
      'INVALID_ARGUMENT: expected at most 1000 descriptors, got more',
    ],
    [
      'more bytes than are taken',
      { ...REQUEST, domain: 'd'.repeat(300_000) },
      'RESOURCE_EXHAUSTED: expected a message of at most 262144 bytes',
    ],
  ])('answers %s without asking the service, and the next call is served', async (_, request, told) => {
    let asked = 0
    const server = await started(() => {
      asked++
      return PASSED
    })
    const client = clientOf(server)
    expect(await call(client, request)).toBe(told)
    expect(asked).toBe(0)
    expect(await call(client)).toMatchObject({ overallCode: 1 })
  })

  test.each([
    '/envoy.service.ratelimit.v3.RateLimitService/Nothing',
    '/envoy.service.ratelimit.v2.RateLimitService/ShouldRateLimit',
    '/__proto__',
  ])('answers a method that is not there: %s', async path => {
    const method = { ...rateLimitService.ShouldRateLimit!, path }
    expect(await call(clientOf(await started()), REQUEST, method)).toBe(
      'UNIMPLEMENTED: there is no method of this name',
    )
  })
})

describe('over TLS', () => {
  const AS_NAMED = { 'grpc.ssl_target_name_override': 'localhost' }
  const own = ownCertificate()
  const [theirs, strangers] = [ownCertificate(), ownCertificate()]

  test('calls are answered', async () => {
    const server = await started(() => LIMITED, { tls: own })
    expect(await call(clientOf(server, credentials.createSsl(own.cert), AS_NAMED))).toMatchObject(LIMITED_TO_ENVOY)
  })

  test('an unencrypted client gets no answer', async () => {
    const server = await started(() => LIMITED, { tls: own })
    expect(await call(clientOf(server))).toMatch(/^UNAVAILABLE/)
  })

  test('with `ca`, only a client with a certificate is served', async () => {
    let asked = 0
    const count = () => {
      asked++
      return PASSED
    }
    const server = await started(count, { tls: { ...own, ca: theirs.cert } })
    const as = (who?: typeof own) => clientOf(server, credentials.createSsl(own.cert, who?.key, who?.cert), AS_NAMED)
    expect(await call(as(theirs))).toMatchObject({ overallCode: 1 })
    expect(await call(as(strangers))).toMatch(/^UNAVAILABLE/)
    expect(await call(as())).toMatch(/^UNAVAILABLE/)
    expect(asked).toBe(1)
  })
})

describe('to start', () => {
  const service = { shouldRateLimit: () => PASSED }

  test.each([
    ['maxMessageBytes', 0],
    ['maxConcurrentStreams', 1.5],
    ['patienceMs', -1],
    ['keepaliveMs', Number.NaN],
    ['keepaliveMs', 2 ** 31],
  ])('is refused with %s of %d', async (name, value) => {
    await expect(startGrpc({ service, port: 0, [name]: value })).rejects.toThrow(
      `expected ${name} as a whole number from 1 to 2147483647, got ${value}`,
    )
  })

  test('fails if another server has the port', async () => {
    const { port } = await started()
    await expect(startGrpc({ service, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})
