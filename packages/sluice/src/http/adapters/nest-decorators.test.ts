import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ControllerOptions,
  Get,
  HttpException,
  Inject,
  Injectable,
  type ModuleMetadata,
  UseGuards,
  Version,
  VersioningType,
} from '@nestjs/common'
import { afterEach, describe, expect, test } from 'vitest'
import { moduleOf, PLATFORMS, type Site, startNest } from '../../fixtures/http/nest/application.ts'
import { decorate } from '../../fixtures/http/nest/decorate.ts'
import { tokenBucket } from '../../policy.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardOptions, type RequestView } from '../index.ts'
import { Cost, RateLimit, RateLimitGuard, RateLimitModule, type Route, SkipRateLimit } from '../nest.ts'

const clock = fakeClock()
const nine = { policy: '9/m', clock } as const
const limitsOf = <Name extends string>(name: Name) => ({ limits: { [name]: { policy: '9/m' } } }) as const

/** A controller with two handlers, GET /path/one and GET /path/two. */
function pair(
  path: ControllerOptions | string,
  own: ClassDecorator[] = [],
  one: MethodDecorator[] = [],
  two: MethodDecorator[] = [],
) {
  class Pair {
    one() {
      return 'one'
    }
    two() {
      return 'two'
    }
  }
  const options = typeof path === 'string' ? { path } : path
  decorate(Pair, [Controller(options), ...own], { one: [Get('one'), ...one], two: [Get('two'), ...two] })
  return Pair
}

describe.each(PLATFORMS)('on %s', (_, adapter) => {
  const sites: Site[] = []
  afterEach(() => Promise.all(sites.splice(0).map(({ app }) => app.close())))

  async function start(metadata: ModuleMetadata, prepare?: Parameters<typeof startNest>[2]): Promise<Site> {
    const site = await startNest(adapter(), metadata, prepare)
    sites.push(site)
    return site
  }

  /** One module with the usual limit and these controllers. */
  function serve(...controllers: NonNullable<ModuleMetadata['controllers']>): Promise<Site> {
    return start({ imports: [RateLimitModule.forRoot(nine)], controllers })
  }

  describe('the module', () => {
    test('guards the handlers of all modules together', async () => {
      const other = moduleOf({ controllers: [pair('b')] })
      const { ask } = await start({ imports: [other, RateLimitModule.forRoot(nine)], controllers: [pair('a')] })
      expect(await ask('/a/one')).toBe('200 default 8')
      expect(await ask('/b/two')).toBe('200 default 7')
    })

    test('is made of what its factory is handed', async () => {
      const settings = moduleOf({ providers: [{ provide: 'RATE', useValue: '3/m' }], exports: ['RATE'] })
      const useFactory = async (policy: '3/m'): Promise<GuardOptions> => ({ policy, clock })
      const { ask } = await start({
        imports: [RateLimitModule.forRootAsync({ imports: [settings], inject: ['RATE'], useFactory })],
        controllers: [pair('a')],
      })
      expect(await ask('/a/one')).toBe('200 default 2')
    })

    test('takes a guard made before, and hands it out', async () => {
      const guard = createGuard(nine)
      for (const limited of [
        RateLimitModule.forRoot(guard),
        RateLimitModule.forRootAsync({ useFactory: () => guard }),
      ]) {
        class Switch {
          limits: RateLimitGuard
          constructor(limits: RateLimitGuard) {
            this.limits = limits
          }
        }
        decorate(Switch, [Injectable()])
        Inject(RateLimitGuard)(Switch, undefined, 0)
        const inner = moduleOf({ providers: [Switch] })
        const { app, ask } = await start({ imports: [limited, inner], controllers: [pair('a')] })
        expect(await ask('/a/one')).toMatch('200 default')
        app.get(Switch, { strict: false }).limits.guard.setMode('off')
        expect(await ask('/a/one')).toBe('200')
        guard.setMode(undefined)
      }
    })

    test.each<[options: unknown]>([[undefined], [{}], [{ policy: '9/m', max: 5 }]])(
      'of %o is said when the application starts',
      async options => {
        expect(() => RateLimitModule.forRoot(options as GuardOptions)).toThrow(/SLUICE_BAD_OPTION/)
        const later = RateLimitModule.forRootAsync({ useFactory: () => options as GuardOptions })
        await expect(start({ imports: [later] })).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
      },
    )

    test('guards once where a handler names the guard besides', async () => {
      const { ask } = await serve(pair('a', [UseGuards(RateLimitGuard)], [UseGuards(RateLimitGuard)]))
      expect(await ask('/a/one')).toBe('200 default 8')
      expect(await ask('/a/two')).toBe('200 default 7')
    })
  })

  describe('decorators', () => {
    test('every handler counts for itself what it has of its own', async () => {
      const own = RateLimit({ policy: '5/m' })
      const { ask } = await serve(pair('a', [], [own], [own]))
      expect(await ask('/a/one')).toBe('200 default 4')
      expect(await ask('/a/two')).toBe('200 default 4')
    })

    test('limits of a handler are its own, and stand in place of those of the same name', async () => {
      const { ask } = await serve(pair('a', [], [RateLimit({ policy: '5/m' })], [RateLimit(limitsOf('further'))]))
      expect(await ask('/a/one')).toBe('200 default 4')
      expect(await ask('/a/two')).toBe('200 default 8 further 8')
      expect(await ask('/a/one')).toBe('200 default 3')
    })

    test('limits of a controller count all its handlers together, save those with their own', async () => {
      const controller = [RateLimit({ limits: { default: { policy: '5/m' }, all: { policy: '7/m' } } })]
      const { ask } = await serve(pair('a', controller, [], [RateLimit({ policy: '3/m' })]), pair('b'))
      expect(await ask('/a/one')).toBe('200 default 4 all 6')
      expect(await ask('/a/two')).toBe('200 default 2 all 5')
      expect(await ask('/a/one')).toBe('200 default 3 all 4')
      expect(await ask('/b/one')).toBe('200 default 8')
    })

    test('the cost of a handler wins over that of its controller', async () => {
      const one = [Cost(2), RateLimit({ limits: { further: { policy: '9/m' }, fixed: { policy: '9/m', cost: 1 } } })]
      const { ask } = await serve(
        pair('a', [Cost(3)], one),
        pair('b', [Cost((r: RequestView) => r.route?.length ?? 0)]),
      )
      expect(await ask('/a/one')).toBe('200 default 7 further 7 fixed 8')
      expect(await ask('/a/two')).toBe('200 default 4')
      expect(await ask('/b/one')).toBe('429 default 4')
    })

    test('what is skipped has no fields; a handler may take back what its controller says', async () => {
      const { ask } = await serve(
        pair('a', [SkipRateLimit()], [SkipRateLimit(false)]),
        pair('b', [], [SkipRateLimit()]),
      )
      expect(await ask('/a/two')).toBe('200')
      expect(await ask('/a/one')).toBe('200 default 8')
      expect(await ask('/b/one')).toBe('200')
      expect(await ask('/b/two')).toBe('200 default 7')
    })

    test('a controller has what it inherits, and counts it for itself', async () => {
      const Base = pair('base', [RateLimit({ policy: '5/m' })], [Cost(2)])
      class Derived extends Base {}
      decorate(Derived, [Controller('derived')])
      const { ask } = await serve(Base, Derived)
      expect(await ask('/base/one')).toBe('200 default 3')
      expect(await ask('/derived/one')).toBe('200 default 3')
      expect(await ask('/derived/two')).toBe('200 default 2')
    })

    test('controllers of the same name do not meet', async () => {
      const [one, two] = [pair('x', [RateLimit({ policy: '5/m' })]), pair('y', [RateLimit({ policy: '5/m' })])]
      expect(one.name).toBe(two.name)
      const { ask } = await start({
        imports: [RateLimitModule.forRoot(nine), moduleOf({ controllers: [one] }), moduleOf({ controllers: [two] })],
      })
      expect(await ask('/x/one')).toBe('200 default 4')
      expect(await ask('/y/one')).toBe('200 default 4')
    })

    test('several guards all run: limits count once, and a cost in each', async () => {
      const second = new RateLimitGuard({ clock, ...limitsOf('second') })
      const { ask } = await serve(
        pair('a', [UseGuards(second)], [Cost(3), RateLimit(limitsOf('own'))], [SkipRateLimit()]),
      )
      expect(await ask('/a/one')).toBe('200 default 6 own 6 second 6')
      expect(await ask('/a/two')).toBe('200')
    })

    test('a switch reaches handlers that nobody has asked for yet', async () => {
      const guard = createGuard(nine)
      const controller = pair('a', [RateLimit({ policy: '5/m' })], [], [RateLimit(limitsOf('further'))])
      const { ask } = await start({ imports: [RateLimitModule.forRoot(guard)], controllers: [controller] })
      guard.setMode('off', 'default')
      expect(await ask('/a/one')).toBe('200')
      expect(await ask('/a/two')).toBe('200 further 8')
      guard.setMode(undefined, 'default')
      expect(await ask('/a/two')).toBe('200 default 4 further 7')
    })
  })

  describe('a refusal', () => {
    const none = {
      limits: { none: { policy: tokenBucket({ capacity: 1, refill: '1/m' }), key: () => 'all' } },
      clock,
    } as const

    test('has its fields and its body', async () => {
      const { ask, get } = await start({ imports: [RateLimitModule.forRoot(none)], controllers: [pair('a')] })
      await ask('/a/one')
      const refused = await get('/a/two')
      expect(refused.status).toBe(429)
      expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json\b/)
      expect(refused.headers.get('retry-after')).toBe('60')
      expect(await refused.json()).toMatchObject({ status: 429, 'violated-policies': ['none'], retry_after: 60 })
    })

    test('is seen by exception filters, which may answer as they like', async () => {
      class Teapot {
        catch(refusal: HttpException, host: ArgumentsHost) {
          const { error } = refusal.getResponse() as { error: string }
          const body = `${refusal.getStatus()} ${error}: ${refusal.message}`
          const response = host.switchToHttp().getResponse()
          response.status(418).send(body)
        }
      }
      decorate(Teapot, [Catch(HttpException)])
      const { ask, get } = await start({ imports: [RateLimitModule.forRoot(none)], controllers: [pair('a')] }, app =>
        app.useGlobalFilters(new Teapot()),
      )
      await ask('/a/one')
      const refused = await get('/a/one')
      expect([refused.status, await refused.text(), refused.headers.get('retry-after')]).toEqual([
        418,
        '429 rate_limit_exceeded: Too many requests. Try again in 60 seconds.',
        '60',
      ])
    })

    test.each(['slow down', '{ slow down'])('of the text %o is the message of the usual answer', async body => {
      const options = { ...none, refuse: () => ({ body }) }
      const { ask, get } = await start({ imports: [RateLimitModule.forRoot(options)], controllers: [pair('a')] })
      await ask('/a/one')
      const refused = await get('/a/one')
      expect([refused.status, await refused.json()]).toEqual([429, { statusCode: 429, message: body }])
    })
  })

  test('routes are known with prefix, version and parameters', async () => {
    class Orders {
      find() {
        return 'one'
      }
      findLater() {
        return 'two'
      }
    }
    const handlers = { find: [Get(':id')], findLater: [Get(':id/lines/:line'), Version('2')] }
    decorate(Orders, [Controller({ path: 'orders', version: '1' })], handlers)
    const seen: unknown[] = []
    const limits = { one: { policy: '9/m', key: (r: RequestView) => (seen.push(r.route) > 0 ? r.ip : '') } } as const
    const { ask } = await start({ imports: [RateLimitModule.forRoot({ clock, limits })], controllers: [Orders] }, app =>
      app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI }),
    )
    await ask('/api/v1/orders/7?a=b')
    await ask('/api/v2/orders/7/lines/8')
    expect(seen).toEqual(['/api/v1/orders/:id', '/api/v2/orders/:id/lines/:line'])
  })

  test('versions of one controller by a header have limits of their own', async () => {
    const versions = (['5/m', '3/m'] as const).map((policy, i) =>
      pair({ path: 'a', version: String(i + 1) }, [RateLimit({ policy })]),
    )
    const { ask } = await start({ imports: [RateLimitModule.forRoot(nine)], controllers: versions }, app =>
      app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' }),
    )
    expect(await ask('/a/one', { 'x-version': '1' })).toBe('200 default 4')
    expect(await ask('/a/one', { 'x-version': '2' })).toBe('200 default 2')
  })

  test('options that are undefined are as if left out', async () => {
    const nothing = { name: undefined, store: undefined, key: undefined, skip: undefined, headers: undefined } as object
    const useFactory = () => ({ ...nothing, ...nine })
    const skipped = pair('skipped', [SkipRateLimit(undefined)])
    const own = pair('own', [
      RateLimit({ key: undefined, cost: undefined, allow: undefined, policy: '5/m' } as object as Route & {
        policy: '5/m'
      }),
    ])
    const controllers = [pair('usual'), own, skipped]
    for (const module of [
      RateLimitModule.forRoot({ ...nothing, ...nine }),
      RateLimitModule.forRootAsync({ imports: undefined, inject: undefined, useFactory }),
    ]) {
      const { ask } = await start({ imports: [module], controllers })
      expect(await ask('/usual/one')).toBe('200 default 8')
      expect(await ask('/own/one')).toBe('200 default 4')
      expect(await ask('/skipped/one')).toBe('200')
    }
  })
})

test.each<[limits: unknown, message: string]>([
  [undefined, 'expected @RateLimit() as { policy }, { limits } or { cost }, got undefined'],
  ['5/m', "got '5/m'"],
  [{}, 'got an object with no properties'],
  [{ policy: '5/m', kye: () => '' }, "got 'kye'"],
])('@RateLimit(%o) is said where it stands', (limits, message) => {
  expect(() => RateLimit(limits as Route & { policy: '5/m' })).toThrow(message)
})
