import { connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import { farMemory } from '../../fixtures/stores/far-memory.ts'
import { slidingWindow } from '../../policy.ts'
import { fakeClock } from '../../testing/index.ts'
import {
  decisionOf,
  type FastifyOptions,
  type FastifyView,
  type Hook,
  RefusedError,
  type Route,
  rateLimit,
} from '../fastify.ts'
import { createGuard, type GuardOptions, header, type RequestView, route, user } from '../index.ts'

const clock = fakeClock()
const five = { policy: '5/m', clock } as const
const hello = async () => 'hello'
const apps: { close(): Promise<unknown> }[] = []

afterEach(() => Promise.all(apps.splice(0).map(app => app.close())))

function open(): FastifyInstance {
  const app = fastify()
  apps.push(app)
  return app
}

/** As routes say it. Its type is left open, since whatever other limiter is installed may have its own for it. */
function config(rateLimit: unknown): object {
  return { rateLimit }
}

/** The status, and what each limit has left: `200 default 4`. */
async function ask(app: FastifyInstance, url: string, options: InjectOptions = {}): Promise<string> {
  const { statusCode, headers } = await app.inject({ url, ...options })
  return [statusCode, ...leftIn(headers.ratelimit)].join(' ')
}

function leftIn(field: unknown): string[] {
  return [...String(field ?? '').matchAll(/"([^"]+)";r=(\d+)/g)].map(([, name, left]) => `${name} ${left}`)
}

describe('the scope', () => {
  test('at the root, all routes are limited together: those before it, those in scopes, and none', async () => {
    const app = open()
    app.get('/before', hello)
    app.register(rateLimit, five)
    app.get('/after', hello)
    app.register(async scope => void scope.get('/inside', hello), { prefix: '/scope' })
    expect(await ask(app, '/before')).toBe('200 default 4')
    expect(await ask(app, '/after')).toBe('200 default 3')
    expect(await ask(app, '/scope/inside')).toBe('200 default 2')
    expect(await ask(app, '/nowhere')).toBe('404 default 1')
    expect(await ask(app, '/scope/nowhere')).toBe('404 default 0')
    expect(await ask(app, '/after')).toBe('429 default 0')
  })

  test('inside a scope, nothing else is limited', async () => {
    const app = open()
    app.get('/outside', hello)
    app.register(
      async scope => {
        await scope.register(rateLimit, five)
        scope.get('/inside', hello)
        scope.setNotFoundHandler((_, reply) => reply.code(404).send('none'))
      },
      { prefix: '/scope' },
    )
    app.register(async scope => void scope.get('/inside', hello), { prefix: '/sibling' })
    expect(await ask(app, '/scope/inside')).toBe('200 default 4')
    expect(await ask(app, '/scope/nowhere')).toBe('404 default 3')
    for (const url of ['/outside', '/sibling/inside', '/nowhere']) expect(await ask(app, url)).toMatch(/^(200|404)$/)
  })

  test('several limiters all run, in the order of their registration, until one refuses', async () => {
    const app = open()
    await app.register(rateLimit, { limits: { outer: { policy: '5/m' } }, clock })
    await app.register(rateLimit, { limits: { second: { policy: '3/m' } }, clock })
    await app.register(async scope => {
      await scope.register(rateLimit, { limits: { inner: { policy: '1/m' } }, clock })
      scope.get('/inner', hello)
    })
    app.get('/', hello)
    expect(await ask(app, '/inner')).toBe('200 outer 4 second 2 inner 0')
    expect(await ask(app, '/inner')).toBe('503 outer 3 second 1 inner 0')
    expect(await ask(app, '/')).toBe('200 outer 2 second 0')
    expect(await ask(app, '/inner')).toBe('503 outer 1 second 0')
  })

  test('a guard made before is shared: by two applications, and with whoever switches it off', async () => {
    const guard = createGuard(five)
    const [one, two] = [open(), open()]
    await one.register(rateLimit, { guard })
    await two.register(rateLimit, { guard, hook: 'preHandler' })
    for (const app of [one, two]) app.get('/', hello)
    expect(await ask(one, '/')).toBe('200 default 4')
    expect(await ask(two, '/')).toBe('200 default 3')
    guard.setMode('off')
    expect(await ask(two, '/')).toBe('200')
  })

  test.each<[what: string, options: unknown]>([
    ['no limit', {}],
    ['a hook that is none', { ...five, hook: 'onSend' }],
    ['an option that is none', { ...five, max: 5 }],
    ['something else as a guard', { guard: five }],
    ['options beside a guard', { guard: createGuard(five), clock }],
  ])('%s is said when the application starts', async (_, options) => {
    const app = open()
    app.register(rateLimit, options as GuardOptions)
    await expect(app.ready()).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
  })
})

describe("a route's own config", () => {
  async function withRoutes(routes: Record<string, unknown>, options: FastifyOptions = five): Promise<FastifyInstance> {
    const app = open()
    await app.register(rateLimit, options)
    for (const [name, own] of Object.entries(routes)) {
      const [method = '', url = ''] = name.split(' ')
      app.route({ method: method.split('|'), url, handler: hello, config: config(own) })
    }
    return app
  }

  test('false means no limit and no field', async () => {
    const app = await withRoutes({ 'GET /free': false })
    expect(await ask(app, '/free')).toBe('200')
  })

  test('a cost is what a request takes of every limit that has none of its own', async () => {
    const limits = { caller: { policy: '9/m' }, own: { policy: '9/m', cost: 2 } } as const
    const app = await withRoutes(
      {
        'GET /dear': { cost: 3 },
        'GET /by/:method': { cost: (r: RequestView) => (r.route === '/by/:method' ? 4 : 1) },
      },
      { clock, limits },
    )
    expect(await ask(app, '/dear')).toBe('200 caller 6 own 7')
    expect(await ask(app, '/by/post')).toBe('200 caller 2 own 5')
  })

  test('a policy stands in place of the default one, and every route counts for itself', async () => {
    const two = { policy: '2/m' } satisfies Route
    const app = await withRoutes({ 'GET /a': two, 'GET /b': two, 'GET /c': undefined })
    expect(await ask(app, '/a')).toBe('200 default 1')
    expect(await ask(app, '/a')).toBe('200 default 0')
    expect(await ask(app, '/a')).toBe('429 default 0')
    expect(await ask(app, '/b')).toBe('200 default 1')
    expect(await ask(app, '/c')).toBe('200 default 4')
  })

  test('routes that name one bucket share it', async () => {
    const shared = { policy: '2/m', bucket: 'search' } satisfies Route
    const app = await withRoutes({ 'GET /a': shared, 'GET /b': shared })
    expect(await ask(app, '/a')).toBe('200 default 1')
    expect(await ask(app, '/b')).toBe('200 default 0')
  })

  test('further limits are in the same decision: what one refuses, none counts', async () => {
    const app = await withRoutes({ 'GET /': undefined, 'GET /search': { limits: { search: { policy: '1/m' } } } })
    expect(await ask(app, '/search')).toBe('200 default 4 search 0')
    expect(await ask(app, '/search')).toBe('503 default 4 search 0')
    expect(await ask(app, '/')).toBe('200 default 3')
  })

  test('each method of a path has its own; HEAD has that of GET', async () => {
    const app = await withRoutes({
      'GET /x': { policy: '7/m' },
      'POST /x': { policy: '2/m' },
      'PUT|GET /y': { policy: '7/m' },
    })
    const asked: ['GET' | 'HEAD' | 'POST' | 'PUT', string, string][] = [
      ['GET', '/x', '200 default 6'],
      ['POST', '/x', '200 default 1'],
      ['HEAD', '/x', '200 default 5'],
      ['PUT', '/y', '200 default 6'],
      ['HEAD', '/y', '200 default 5'],
    ]
    for (const [method, url, expected] of asked) expect(await ask(app, url, { method })).toBe(expected)
  })

  test('each version of a route has its own', async () => {
    const app = open()
    await app.register(rateLimit, five)
    for (const [version, policy] of [['1.0.0', '7/m'] as const, ['2.0.0', '3/m'] as const]) {
      app.get('/', { constraints: { version }, config: config({ policy }) }, hello)
    }
    expect(await ask(app, '/', { headers: { 'accept-version': '1.x' } })).toBe('200 default 6')
    expect(await ask(app, '/', { headers: { 'accept-version': '2.x' } })).toMatch('200 default')
    const { headers } = await app.inject({ url: '/', headers: { 'accept-version': '2.x' } })
    expect(headers['ratelimit-policy']).toBe('"default";q=3;w=60')
  })

  test('is read before the limiter is registered, too', async () => {
    const app = open()
    app.get('/early', { config: config({ policy: '2/m' }) }, hello)
    app.get('/wrong', { config: config('none') }, hello)
    app.get('/hook', { config: config({ hook: 'preHandler' }) }, hello)
    await app.register(rateLimit, five)
    expect(await ask(app, '/early')).toBe('200 default 1')
    const wrong = await app.inject('/wrong')
    expect([wrong.statusCode, wrong.json().code]).toEqual([500, 'SLUICE_BAD_OPTION'])
    expect((await app.inject('/hook')).json().message).toContain('GET /hook to come after the limiter')
  })

  test('what is undefined in it, or among the settings of the scope, is as if left out', async () => {
    const left = { hook: undefined, allow: undefined, limits: undefined, policy: undefined, cost: undefined }
    const app = await withRoutes(
      { 'GET /': undefined, 'GET /cost': { ...left, cost: 2 }, 'GET /own': { ...left, policy: '2/m' } },
      { ...five, guard: undefined, hook: undefined, global: undefined, throw: undefined },
    )
    expect(await ask(app, '/')).toBe('200 default 4')
    expect(await ask(app, '/cost')).toBe('200 default 2')
    expect(await ask(app, '/own')).toBe('200 default 1')
  })

  test('allow adds to the addresses that no limit concerns', async () => {
    const app = await withRoutes(
      { 'GET /': undefined, 'GET /inside': { policy: '1/m', allow: ['192.0.2.0/24'] } },
      { ...five, allow: ['198.51.100.7'] },
    )
    for (const remoteAddress of ['192.0.2.1', '198.51.100.7']) {
      expect(await ask(app, '/inside', { remoteAddress })).toBe('200')
    }
    expect(await ask(app, '/inside', { remoteAddress: '198.51.100.8' })).toBe('200 default 0')
    expect(await ask(app, '/', { remoteAddress: '192.0.2.1' })).toBe('200 default 4')
  })

  test('may be that of a handler for what has no route, though no route says anything', async () => {
    const app = open()
    await app.register(rateLimit, five)
    app.get('/', hello)
    app.setNotFoundHandler({ config: config(false) } as object, async () => 'nothing here')
    expect(await ask(app, '/')).toBe('200 default 4')
    expect(await ask(app, '/nowhere')).toBe('200')
    expect(await ask(app, '/')).toBe('200 default 3')
  })

  test('with several limiters, limits count once and a cost in each', async () => {
    const app = open()
    await app.register(rateLimit, { limits: { first: { policy: '9/m' } }, clock })
    await app.register(rateLimit, { limits: { second: { policy: '9/m' } }, clock })
    const search = { search: { policy: '9/m' } } as const
    app.get('/free', { config: config(false) }, hello)
    app.get('/dear', { config: config({ cost: 3 }) }, hello)
    app.get('/search', { config: config({ limits: search }) }, hello)
    app.get('/both', { config: config({ limits: search, cost: 2 }) }, hello)
    expect(await ask(app, '/free')).toBe('200')
    expect(await ask(app, '/dear')).toBe('200 first 6 second 6')
    expect(await ask(app, '/search')).toBe('200 first 5 search 8 second 5')
    expect(await ask(app, '/both')).toBe('200 first 3 search 7 second 3')
  })

  test.each<[config: unknown, code: string, message: string]>([
    ['yes', 'SLUICE_BAD_OPTION', "expected rateLimit of GET /x as { policy }, { limits } or { cost }, got 'yes'"],
    [
      { policy: '5/m', hook: 'onSend' },
      'SLUICE_BAD_OPTION',
      "rateLimit of GET /x hook onRequest, preParsing, preValidation, preHandler, got 'onSend'",
    ],
    [null, 'SLUICE_BAD_OPTION', 'got null'],
    ['5/m', 'SLUICE_BAD_OPTION', "got '5/m'"],
    [{}, 'SLUICE_BAD_OPTION', 'got an object with no properties'],
    [{ max: 5 }, 'SLUICE_BAD_OPTION', "got 'max'"],
    [
      { cost: 1, max: 5 },
      'SLUICE_BAD_OPTION',
      "expected an option of rateLimit of GET /x, got 'max'; known are allow, cost",
    ],
    [{ policy: '5/m', kye: () => '' }, 'SLUICE_BAD_OPTION', "got 'kye'"],
    [{ limits: {} }, 'SLUICE_BAD_OPTION', 'limits by name, at least one'],
    [{ limits: { a: { policy: '1/m', delay: -1 } } }, 'SLUICE_BAD_OPTION', 'delay'],
    [{ policy: 'often' }, 'SLUICE_BAD_RATE', "got 'often'"],
    [{ cost: -1 }, 'SLUICE_BAD_COST', 'got -1'],
    [{ cost: 0.5 }, 'SLUICE_BAD_COST', 'got 0.5'],
    [{ cost: '1' }, 'SLUICE_BAD_COST', "got '1'"],
    [{ cost: { '/x': -1 } }, 'SLUICE_BAD_COST', 'got -1'],
  ])('%o is said when the route is registered', async (rateLimit, code, message) => {
    const error = await withRoutes({ 'GET /x': rateLimit }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
  })
})

describe('the hook', () => {
  test.each<[hook: Hook, body: unknown, validated: boolean]>([
    ['onRequest', undefined, false],
    ['preParsing', undefined, false],
    ['preValidation', { name: 'eve' }, false],
    ['preHandler', { name: 'eve' }, true],
  ])('%s sees what is there by then', async (hook, body, validated) => {
    const app = open()
    const seen: unknown[] = []
    const steps: string[] = []
    const limits = { one: { policy: '1/m', key: (r: FastifyView) => (seen.push(r.body) > 0 ? r.ip : '') } } as const
    await app.register(rateLimit, { clock, hook, limits })
    app.addHook('preValidation', async () => void steps.push('validates'))
    app.post('/', async () => String(steps.push('answers')))
    const posted = { method: 'POST', payload: { name: 'eve' } } as const
    expect(await ask(app, '/', posted)).toBe('200 one 0')
    expect(await ask(app, '/', posted)).toBe('429 one 0')
    expect(seen).toEqual([body, body])
    expect(steps).toEqual(['validates', 'answers', ...(validated ? ['validates'] : [])])
  })

  test.each<Hook>(['onRequest', 'preParsing', 'preValidation', 'preHandler'])(
    'in %s an answer that comes later is waited for',
    async hook => {
      const app = open()
      const store = farMemory(clock)
      await app.register(rateLimit, { policy: '1/m', hook, store })
      app.post('/', hello)
      const posted = { method: 'POST', payload: { name: 'eve' } } as const
      expect(await ask(app, '/', posted)).toBe('200 default 0')
      expect(await ask(app, '/', posted)).toBe('429 default 0')
    },
  )

  test('a refusal goes through the hooks of the application, and to no error handler', async () => {
    const app = open()
    const seen: string[] = []
    app.setErrorHandler(() => 'broken')
    app.addHook('onSend', async (_, reply) => void seen.push(`sends ${reply.statusCode}`))
    app.addHook('onResponse', async (_, reply) => void seen.push(`sent ${reply.statusCode}`))
    await app.register(rateLimit, { ...five, policy: slidingWindow({ limit: 0, window: '1m' }) })
    app.get('/', hello)
    const { statusCode, headers, body } = await app.inject('/')
    expect(statusCode).toBe(429)
    expect(headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/problem\+json\b/),
      'cache-control': 'no-store',
    })
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
    expect(JSON.parse(body)).toMatchObject({ status: 429, error: 'rate_limit_exceeded' })
    expect(seen).toEqual(['sends 429', 'sent 429'])
    const head = await app.inject({ method: 'HEAD', url: '/' })
    expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([429, '', headers['content-length']])
  })
})

describe('route()', () => {
  test('is the whole template, with the prefixes of all scopes', async () => {
    const app = open()
    const seen: (string | undefined)[] = []
    const limits = { one: { policy: '9/m', key: route(), when: (r: RequestView) => seen.push(r.route) > 0 } } as const
    await app.register(rateLimit, { clock, limits })
    await app.register(
      async api => {
        api.get('/', hello)
        await api.register(async v1 => void v1.get('/orders/:id', hello), { prefix: '/v1' })
        api.get('/files/*', hello)
      },
      { prefix: '/api' },
    )
    for (const url of ['/api/v1/orders/1?x=2', '/api/v1/orders/2', '/api', '/api/', '/api/files/a/b', '/api/none']) {
      await ask(app, url)
    }
    expect(seen).toEqual([...['/api/v1/orders/:id', '/api/v1/orders/:id', '/api', '/api', '/api/files/*'], undefined])
  })

  test('HTTP/2 streams of one session find theirs, and five of ten pass', async () => {
    const app = fastify({ http2: true })
    apps.push(app)
    const seen = new Set<unknown>()
    const limits = { one: { policy: '5/m', key: (r: RequestView) => seen.add(r.route) && r.ip } } as const
    await app.register(rateLimit, { clock, limits })
    app.get('/orders/:id', hello)
    await app.listen({ host: '127.0.0.1', port: 0 })
    const session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, i) => {
        const stream = session.request({ ':path': `/orders/${i}` })
        const status = await new Promise<unknown>(resolve => stream.on('response', sent => resolve(sent[':status'])))
        stream.resume().close()
        return status
      }),
    )
    session.destroy()
    expect(answers.sort()).toEqual([...Array(5).fill(200), ...Array(5).fill(429)])
    expect([...seen]).toEqual(['/orders/:id'])
  })
})

test("Fastify's own types take every way to register it, and nothing else", async () => {
  const app = open()
  app.register(rateLimit, { policy: '5/m' })
  app.register(rateLimit, () => five)
  app.register(rateLimit, {
    limits: { one: { policy: '5/m', key: r => r.ip, cost: r => (r.body as { size: number }).size } },
  })
  app.register(rateLimit, { policy: '5/m', key: header('x'), skip: r => r.route === '/', hook: 'preHandler' })
  app.register(rateLimit, { guard: createGuard(five), hook: 'preParsing' })
  fastify({ http2: true }).register(rateLimit, { policy: '5/m' })
  await app.ready()
  if (app.server.listening) {
    // @ts-expect-error: nothing says how much
    app.register(rateLimit, { hook: 'onRequest' })
    // @ts-expect-error: no hook of a request
    app.register(rateLimit, { policy: '5/m', hook: 'onSend' })
    // @ts-expect-error: no such option
    app.register(rateLimit, { policy: '5/m', max: 5 })
    // @ts-expect-error: a guard is no limit
    app.register(rateLimit, { guard: five })
    // @ts-expect-error: nothing says how much
    app.register(rateLimit, {})
  }
})

describe('who sees whom', () => {
  /** Sets the user, as an authentication plugin would. */
  const signIn = async (request: object) => void Object.assign(request, { customer: { id: 'ann' } })
  const byUser = { limits: { user: { policy: '2/m', key: user((r: FastifyView) => r.customer?.id) } }, clock } as const

  test.each([
    ['before the limiter', true],
    ['after it', false],
  ])('with a later hook, the limiter knows a user that a hook finds which was added %s', async (_, before) => {
    const app = open()
    const seen: unknown[] = []
    if (before) app.addHook('preHandler', signIn)
    await app.register(rateLimit, { ...byUser, hook: 'preHandler', onDecision: (_, r) => seen.push(r.customer?.id) })
    if (!before) app.addHook('preHandler', signIn)
    app.get('/', hello)
    app.get('/own', { preHandler: signIn }, hello)
    expect([await ask(app, '/'), await ask(app, '/own'), await ask(app, '/')]).toEqual([
      '200 user 1',
      '200 user 0',
      '429 user 0',
    ])
    expect(seen).toEqual(['ann', 'ann', 'ann'])
  })

  test('HEAD is counted once, and so is a route of a prefix with and without its slash', async () => {
    const app = open()
    await app.register(rateLimit, { ...five, hook: 'preHandler' })
    app.register(async scope => void scope.get('/', hello), { prefix: '/inside' })
    app.get('/', hello)
    expect(await ask(app, '/', { method: 'HEAD' })).toBe('200 default 4')
    expect(await ask(app, '/inside')).toBe('200 default 3')
    expect(await ask(app, '/inside/')).toBe('200 default 2')
    expect(await ask(app, '/nowhere')).toBe('404 default 1')
  })

  test('a route may name a hook of its own', async () => {
    const app = open()
    await app.register(rateLimit, { ...byUser })
    app.addHook('preHandler', signIn)
    app.get('/', hello)
    app.get('/late', { config: config({ hook: 'preHandler' }) }, hello)
    app.get('/dear', { config: config({ hook: 'preHandler', cost: 2 }) }, hello)
    expect(await ask(app, '/')).toBe('200 user 1')
    expect(await ask(app, '/late')).toBe('200 user 1')
    expect(await ask(app, '/dear')).toBe('429 user 1')
  })
})

describe('global: false', () => {
  test('limits only the routes that say so', async () => {
    const app = open()
    await app.register(rateLimit, { ...five, global: false })
    app.get('/free', hello)
    app.get('/as-all', { config: config(true) }, hello)
    app.get('/own', { config: config({ policy: '2/m' }) }, hello)
    expect(await ask(app, '/free')).toBe('200')
    expect(await ask(app, '/nowhere')).toBe('404')
    expect(await ask(app, '/as-all')).toBe('200 default 4')
    expect(await ask(app, '/own')).toBe('200 default 1')
  })

  test('app.rateLimit() makes a hook for a route or for what has none', async () => {
    const app = open()
    await app.register(rateLimit, { ...five, global: false })
    // The types of @fastify/rate-limit, which the benchmarks load, add another method of this name.
    app.get('/', { onRequest: app.rateLimit() as never }, hello)
    app.get('/own', { preHandler: app.rateLimit({ policy: '1/m' }) }, hello)
    app.setNotFoundHandler({ preHandler: app.rateLimit({ policy: '2/m' }) }, (_, reply) => reply.code(404).send('none'))
    expect(await ask(app, '/')).toBe('200 default 4')
    expect([await ask(app, '/own'), await ask(app, '/own')]).toEqual(['200 default 0', '429 default 0'])
    expect(await ask(app, '/nowhere')).toBe('404 default 1')
    expect(() => app.rateLimit({ max: 5 } as never)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  })
})

describe('throw: true', () => {
  test.each([
    ['in process', undefined],
    ['over a remote store', farMemory(clock)],
  ])('a refusal reaches the error handler, with the fields set: %s', async (_, store) => {
    const app = open()
    await app.register(rateLimit, { policy: '1/m', throw: true, ...(store === undefined ? { clock } : { store }) })
    const errors: unknown[] = []
    app.setErrorHandler((error: RefusedError, _, reply) => {
      errors.push(error)
      return reply.code(error.statusCode).send({ mine: error.decision?.limit })
    })
    app.get('/', hello)
    expect(await ask(app, '/')).toBe('200 default 0')
    const refused = await app.inject('/')
    expect([refused.statusCode, refused.json()]).toEqual([429, { mine: 1 }])
    expect(refused.headers).toMatchObject({
      'retry-after': expect.any(String),
      'content-type': 'application/json; charset=utf-8',
    })
    expect(errors).toEqual([expect.any(RefusedError)])
    expect(errors[0]).toMatchObject({ statusCode: 429, body: { status: 429, error: 'rate_limit_exceeded' } })
  })

  test('without a handler of its own, Fastify answers it with its status', async () => {
    const app = open()
    await app.register(rateLimit, { ...five, policy: '1/m', throw: true })
    app.get('/', hello)
    await ask(app, '/')
    const { statusCode, body } = await app.inject('/')
    expect([statusCode, JSON.parse(body)]).toMatchObject([
      429,
      { statusCode: 429, message: expect.stringContaining('Try again') },
    ])
  })
})

test('the handler reads what was decided', async () => {
  const app = open()
  await app.register(rateLimit, five)
  app.get('/', async request => ({ of: decisionOf(request)?.remaining, own: request.rateLimit?.remaining }))
  app.get('/free', { config: config(false) }, async request => ({ decided: request.rateLimit !== undefined }))
  expect((await app.inject('/')).json()).toEqual({ of: 4, own: 4 })
  expect((await app.inject('/free')).json()).toEqual({ decided: false })
})

test('options that are undefined are as if left out', async () => {
  const app = open()
  const nothing = { hook: undefined, global: undefined, throw: undefined, guard: undefined }
  await app.register(rateLimit, { ...five, ...nothing } as never)
  app.get('/', hello)
  expect(await ask(app, '/')).toBe('200 default 4')
})

test('policy, key, cost and skip may look something up first', async () => {
  const app = open()
  // As a database answers: on a later turn of the event loop.
  const lookUp = <const T>(value: T) => new Promise<T>(resolve => setImmediate(resolve, value))
  const limit = {
    policy: (r: FastifyView) => lookUp(r.header('x-plan') === 'pro' ? '9/m' : '5/m'),
    key: (r: FastifyView) => lookUp(r.header('x-user') ?? 'nobody'),
    unit: 'points',
    cost: (r: FastifyView) => lookUp(r.raw.method === 'POST' ? 3 : 1),
  } as const
  const skip = (r: FastifyView) => lookUp(r.header('x-user') === 'operator')
  let ran = 0
  await app.register(rateLimit, { limits: { caller: limit }, skip, clock })
  app.route({ method: ['GET', 'POST'], url: '/', handler: async () => ++ran })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const ask = async (user: string, plan: string, method = 'GET') => {
    const response = await fetch(url, { method, headers: { 'x-user': user, 'x-plan': plan } })
    await response.text()
    return [response.status, ...leftIn(response.headers.get('ratelimit'))].join(' ')
  }
  expect(await ask('ann', 'free')).toBe('200 caller 4')
  expect(await ask('ann', 'free', 'POST')).toBe('200 caller 1')
  expect(await ask('ann', 'free', 'POST')).toBe('429 caller 1')
  expect(await ask('bob', 'pro')).toBe('200 caller 8')
  expect(await ask('operator', 'free')).toBe('200')
  expect(ran).toBe(4)
})
