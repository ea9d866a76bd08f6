import fastify from 'fastify'
import { expectTypeOf, test } from 'vitest'
import type { Decision } from '../../decision.ts'
import { rateLimit as expressLimit } from '../express.ts'
import { type FastifyOptions, type FastifyView, rateLimit as fastifyLimit } from '../fastify.ts'
import { rateLimit as fetchLimit } from '../fetch.ts'
import { rateLimit as honoLimit } from '../hono.ts'
import { all, createGuard, firstOf, ip, plans, type RequestView, route, user, userAgent } from '../index.ts'
import { rateLimit as koaLimit } from '../koa.ts'
import { RateLimitModule } from '../nest.ts'
import { rateLimit as nodeLimit } from '../node.ts'

/** These are checked by the compiler, which complains of an error that is expected and does not come, as of `any`. */

declare module 'express-serve-static-core' {
  interface Request {
    customer?: { id: string; plan: string }
  }
}
declare module 'hono' {
  interface ContextVariableMap {
    customer: { id: string }
  }
}
declare module 'fastify' {
  interface FastifyRequest {
    customer?: { id: string }
  }
}

test('in Express, r is a Request', () => {
  expressLimit({
    limits: {
      caller: {
        policy: plans({ free: '1/m' }, r => r.customer?.plan),
        key: all(
          user(r => r.customer?.id),
          ip(),
        ),
        when: r => {
          expectTypeOf(r.get('x-a')).toEqualTypeOf<string | undefined>()
          expectTypeOf(r.route).toEqualTypeOf<string | undefined>()
          expectTypeOf(r.ip).toEqualTypeOf<string>()
          return r.originalUrl === '/'
        },
        // @ts-expect-error
        cost: r => r.nothing,
        // @ts-expect-error
        settle: (_, r) => r.nothing,
      },
    },
    // @ts-expect-error
    skip: r => r.nothing,
    onDecision: (decision, r) => {
      expectTypeOf(decision).toEqualTypeOf<Decision>()
      expectTypeOf(r.protocol).toEqualTypeOf<string>()
    },
  })
  // @ts-expect-error
  expressLimit({ policy: '1/m', key: user(r => r.nothing) })
  // In any order, and in one another.
  expressLimit({
    policy: '1/m',
    key: all(
      ip(),
      route(),
      userAgent(),
      user(r => r.customer?.id),
    ),
  })
  expressLimit({
    policy: '1/m',
    key: firstOf(
      all(
        ip(),
        user(r => r.customer?.id),
      ),
      ip(),
    ),
  })
  expressLimit({
    policy: '1/m',
    key: all(
      ip(),
      // @ts-expect-error
      user(r => r.nothing),
    ),
  })
  // @ts-expect-error
  expressLimit({ policy: plans({ free: '1/m' }, r => r.nothing) })
})

test('in Fastify, r is a FastifyRequest', () => {
  const options: FastifyOptions = {
    policy: '1/m',
    key: user(r => r.customer?.id),
    cost: r => r.routeOptions.url?.length ?? 1,
    // @ts-expect-error
    when: r => r.nothing,
  }
  expectTypeOf(fastifyLimit).parameter(1).toEqualTypeOf<FastifyOptions>()
  // Inside of `register` TypeScript hands functions of options the type, but not those of a helper.
  fastify().register(fastifyLimit, {
    policy: r => (r.customer === undefined ? '1/m' : '2/m'),
    key: user((r: FastifyView) => r.customer?.id),
  })
  return options
})

test('in Hono, r is a Context', () => {
  honoLimit({
    policy: '1/m',
    key: user(r => r.get('customer').id),
    when: r => r.req.query('a') === r.header('x-a'),
    // @ts-expect-error
    skip: r => r.get('customer').nothing,
  })
})

test('in Koa, r is a context', () => {
  koaLimit({
    policy: '1/m',
    key: user(r => r.query.a),
    when: r => r.secure,
    // @ts-expect-error
    skip: r => r.nothing,
  })
})

test('in Nest, r is what the requests of its platforms have in common', () => {
  RateLimitModule.forRoot({
    policy: '1/m',
    key: r => r.hostname,
    when: r => r.headers.a === r.route,
    // @ts-expect-error
    skip: r => r.nothing,
  })
})

test('of fetch, r is a Request', () => {
  fetchLimit({
    policy: '1/m',
    key: user(r => r.headers.get('x-a')),
    when: r => r.url === '/',
    // @ts-expect-error
    skip: r => r.nothing,
  })
})

test('in Node, r is an IncomingMessage', () => {
  nodeLimit({
    policy: '1/m',
    key: user(r => r.headers.host),
    when: r => r.complete,
    // @ts-expect-error
    skip: r => r.nothing,
  })
})

test('a guard made for a type of request is taken by every adapter', () => {
  interface Mine {
    mine: string
  }
  const guard = createGuard<RequestView<Mine>>({ policy: '1/m', key: r => r.mine, skip: r => r.raw.mine === '' })
  for (const limit of [expressLimit, honoLimit, koaLimit, fetchLimit, nodeLimit]) limit(guard)
  createGuard({
    policy: '1/m',
    key: r => {
      expectTypeOf(r.raw).toEqualTypeOf<unknown>()
      return r.ip
    },
    // @ts-expect-error
    when: r => r.nothing,
  })
})
