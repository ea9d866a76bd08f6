import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { startRedis } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run as sluice } from '../packages/server/src/fixtures/command/run.ts'
import { serve } from '../packages/server/src/fixtures/process.ts'
import { call, clientOf } from '../packages/server/src/fixtures/rls/client.ts'
import { namedService } from '../packages/server/src/fixtures/rls/protos.ts'
import { ROOT, run } from './consumers/pack.ts'

const SLOW_MS = 300_000
const guide = (name: string) => readFileSync(join(ROOT, `docs/migrate/${name}.md`), 'utf8')

/** The code under `## Before` or `## After`. */
function code(name: string, heading: 'Before' | 'After', language: string): string {
  const section = guide(name).split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!
  return new RegExp(`^\`\`\`(?:${language})\n(.*?)^\`\`\`$`, 'ms').exec(section)![1]!
}

describe('every option, call and export of theirs has its row', () => {
  /** The public members of types and classes in a package's declarations. */
  function members(path: string, types: readonly string[]): string[] {
    const source = readFileSync(join(ROOT, 'node_modules', path), 'utf8').replaceAll(/^\s*\/?\*.*\n/gm, '')
    return types.flatMap(type => {
      const body =
        new RegExp(`(?:interface|type|class) ${type}\\b[^{]*\\{\n(.*?)^\\s{0,2}\\}`, 'ms').exec(source)?.[1] ?? ''
      const indent = /^\s+/.exec(body)?.[0] ?? ''
      const member = `^${indent}(?:(?:static|readonly|protected|get) )*(?!private|constructor)(\\w+)\\??[:(<]`
      const names = [...body.matchAll(new RegExp(member, 'gm'))].map(([, name]) => name!)
      expect(names, `${type} in ${path}`).not.toEqual([])
      return names
    })
  }

  const exportsOf = (name: string) =>
    Object.keys(createRequire(import.meta.url)(name) as object).filter(
      key => !['default', 'module.exports'].includes(key),
    )
  const flexible = (...types: string[]) => members('rate-limiter-flexible/types.d.ts', types)
  const fastify = (...types: string[]) => members('@fastify/rate-limit/types/index.d.ts', types)
  const express = (...types: string[]) => members('express-rate-limit/dist/index.d.ts', types)
  const upstash = (...types: string[]) => members('@upstash/ratelimit/dist/index.d.ts', types)
  const nest = (file: string, ...types: string[]) => members(`@nestjs/throttler/dist/throttler${file}.d.ts`, types)

  test.each<[name: string, theirs: () => string[]]>([
    [
      'express-rate-limit',
      () => [
        ...express('Options', 'RateLimitRequestHandler', 'RateLimitInfo', 'Store'),
        ...exportsOf('express-rate-limit'),
      ],
    ],
    [
      'fastify-rate-limit',
      () => [
        ...fastify('CreateRateLimitOptions', 'RateLimitOptions', 'RateLimitPluginOptions'),
        ...fastify('errorResponseBuilderContext', 'FastifyRateLimitStore'),
        ...['rateLimit', 'createRateLimit', 'increment'],
        ...['isAllowed', 'key', 'max', 'timeWindow', 'remaining', 'ttl', 'ttlInSeconds', 'isExceeded', 'isBanned'],
        ...exportsOf('@fastify/rate-limit').filter(name => name !== 'fastifyRateLimit'),
      ],
    ],
    [
      'rate-limiter-flexible',
      () => [
        ...[
          '',
          'Cluster',
          'Store',
          'StoreNoAutoExpiry',
          'Mongo',
          'Postgres',
          'Redis',
          'Valkey',
          'Dynamo',
          'ValkeyGlide',
        ]
          .map(what => `IRateLimiter${what}Options`)
          .flatMap(type => flexible(type)),
        ...flexible('RateLimiterAbstract', 'RateLimiterStoreAbstract', 'RateLimiterMemory', 'RateLimiterMongo'),
        ...flexible('RateLimiterUnion', 'RateLimiterQueue', 'IRateLimiterQueueOpts', 'BurstyRateLimiter'),
        ...flexible('IRLWrapperBlackAndWhiteOptions', 'IRLWrapperTimeoutsOptions', 'RateLimiterRes', 'IRateLimiterRes'),
        ...exportsOf('rate-limiter-flexible').filter(name => name !== 'RateLimiterRes'),
        'customDuration',
      ],
    ],
    [
      'upstash-ratelimit',
      () => [
        ...upstash('RegionRatelimitConfig', 'MultiRegionRatelimitConfig', 'LimitOptions', 'RatelimitResponse'),
        ...['fixedWindow', 'slidingWindow', 'tokenBucket', 'cachedFixedWindow'],
        ...upstash('Analytics'),
        ...['limit', 'blockUntilReady', 'resetUsedTokens', 'getRemaining', 'setDynamicLimit', 'getDynamicLimit'],
        ...['updateIpDenyList', 'disableIpDenyList', 'ThresholdError'],
        ...exportsOf('@upstash/ratelimit'),
      ],
    ],
    [
      'nestjs-throttler',
      () => [
        ...nest('-module-options.interface', 'ThrottlerOptions', 'ThrottlerModuleOptions', 'ThrottlerAsyncOptions'),
        ...nest('.decorator', 'ThrottlerMethodOrControllerOptions'),
        ...nest('.guard', 'ThrottlerGuard'),
        ...['forRoot', 'forRootAsync', 'imports'],
        ...exportsOf('@nestjs/throttler').filter(name => name !== 'ThrottlerModule'),
      ],
    ],
    // Neither is a package of npm. The settings are those of its settings.go, the members those of its config_impl.go.
    ['envoy-ratelimit', () => `${ENVOY_SETTINGS} ${ENVOY_MEMBERS}`.split(/\s+/)],
    ['redis-cell', () => ['key', 'max_burst', 'count', 'period', 'quantity', 'THROTTLE']],
  ])('%s', (name, theirs) => {
    const rows = [...guide(name).matchAll(/^\| (.*?) \|/gm)].map(([, first]) => first!)
    const named = new Set(
      rows.flatMap(row => [...row.matchAll(/`([^`]*)`/g)].flatMap(([, code]) => code!.match(/\w+/g))),
    )
    expect(theirs().filter(option => !named.has(option))).toEqual([])
  })
})

const ENVOY_MEMBERS = `domain descriptors key value rate_limit unit requests_per_unit unlimited name replaces
  shadow_mode quota_mode detailed_metric value_to_metric share_threshold metadata`

const ENVOY_SETTINGS = `HOST PORT DEBUG_HOST DEBUG_PORT GRPC_UDS GRPC_HOST GRPC_PORT GRPC_MAX_CONNECTION_AGE
  GRPC_MAX_CONNECTION_AGE_GRACE GRPC_SERVER_USE_TLS GRPC_SERVER_TLS_CERT GRPC_SERVER_TLS_KEY GRPC_CLIENT_TLS_CACERT
  GRPC_CLIENT_TLS_SAN LOG_LEVEL LOG_FORMAT CONFIG_TYPE FORCE_START_WITHOUT_INITIAL_CONFIG CONFIG_GRPC_XDS_NODE_ID
  CONFIG_GRPC_XDS_NODE_METADATA CONFIG_GRPC_XDS_SERVER_URL CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL
  CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS CONFIG_GRPC_XDS_SERVER_USE_TLS CONFIG_GRPC_XDS_CLIENT_TLS_CERT
  CONFIG_GRPC_XDS_CLIENT_TLS_KEY CONFIG_GRPC_XDS_SERVER_TLS_CACERT CONFIG_GRPC_XDS_SERVER_TLS_SAN
  XDS_CLIENT_BACKOFF_INITIAL_INTERVAL XDS_CLIENT_BACKOFF_MAX_INTERVAL XDS_CLIENT_BACKOFF_RANDOM_FACTOR
  XDS_CLIENT_BACKOFF_JITTER XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES USE_DOG_STATSD USE_DOG_STATSD_MOGRIFIERS USE_STATSD
  STATSD_HOST STATSD_PORT EXTRA_TAGS STATS_FLUSH_INTERVAL DISABLE_STATS USE_PROMETHEUS PROMETHEUS_ADDR PROMETHEUS_PATH
  PROMETHEUS_MAPPER_YAML RUNTIME_ROOT RUNTIME_SUBDIRECTORY RUNTIME_APPDIRECTORY RUNTIME_IGNOREDOTFILES
  RUNTIME_WATCH_ROOT EXPIRATION_JITTER_MAX_SECONDS LOCAL_CACHE_SIZE_IN_BYTES NEAR_LIMIT_RATIO CACHE_KEY_PREFIX
  BACKEND_TYPE STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT LIMIT_RESPONSE_HEADERS_ENABLED LIMIT_LIMIT_HEADER
  LIMIT_REMAINING_HEADER LIMIT_RESET_HEADER HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED REDIS_SOCKET_TYPE REDIS_TYPE
  REDIS_URL REDIS_POOL_SIZE REDIS_AUTH REDIS_TLS REDIS_TLS_CLIENT_CERT REDIS_TLS_CLIENT_KEY REDIS_TLS_CACERT
  REDIS_TLS_SKIP_HOSTNAME_VERIFICATION REDIS_PIPELINE_WINDOW REDIS_PIPELINE_LIMIT REDIS_USE_EXPLICIT_PIPELINE
  REDIS_PERSECOND REDIS_PERSECOND_SOCKET_TYPE REDIS_PERSECOND_TYPE REDIS_PERSECOND_URL REDIS_PERSECOND_POOL_SIZE
  REDIS_PERSECOND_AUTH REDIS_PERSECOND_TLS REDIS_SENTINEL_AUTH REDIS_PERSECOND_SENTINEL_AUTH
  REDIS_PERSECOND_PIPELINE_WINDOW REDIS_PERSECOND_PIPELINE_LIMIT REDIS_PERSECOND_USE_EXPLICIT_PIPELINE
  REDIS_HEALTH_CHECK_ACTIVE_CONNECTION REDIS_TIMEOUT REDIS_PERSECOND_TIMEOUT REDIS_POOL_ON_EMPTY_BEHAVIOR
  REDIS_PERSECOND_POOL_ON_EMPTY_BEHAVIOR MEMCACHE_HOST_PORT MEMCACHE_MAX_IDLE_CONNS MEMCACHE_SRV
  MEMCACHE_SRV_REFRESH MEMCACHE_TLS MEMCACHE_TLS_CLIENT_CERT MEMCACHE_TLS_CLIENT_KEY MEMCACHE_TLS_CACERT
  MEMCACHE_TLS_SKIP_HOSTNAME_VERIFICATION SHADOW_MODE RESPONSE_DYNAMIC_METADATA MERGE_DOMAIN_CONFIG TRACING_ENABLED
  TRACING_SERVICE_NAME TRACING_SERVICE_NAMESPACE TRACING_SERVICE_INSTANCE_ID TRACING_EXPORTER_PROTOCOL
  TRACING_SAMPLING_RATE`

test('every guide has its page in the list', () => {
  const pages = readdirSync(join(ROOT, 'docs/migrate')).filter(file => file !== 'README.md')
  const list = readFileSync(join(ROOT, 'docs/migrate/README.md'), 'utf8')
  expect(pages.filter(file => !list.includes(`(${file})`))).toEqual([])
})

describe('before and after admit the same', () => {
  let folder: string
  beforeAll(() => {
    mkdirSync(join(ROOT, 'node_modules/.docs'), { recursive: true })
    folder = mkdtempSync(join(ROOT, 'node_modules/.docs/migrate-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Code that sends six requests to the program of a guide. It is added to each program. */
  const ASK = `
    import { createServer } from 'node:http'
    import { Redis } from 'ioredis'
    const six = async ask => { const told = []; for (let n = 0; n < 6; n++) told.push(await ask()); return told }
    const overHttp = async app => {
      const server = createServer(app).listen(0, '127.0.0.1')
      const address = await new Promise(resolve => server.once('listening', () => resolve(server.address())))
      const statuses = await six(() => fetch('http://127.0.0.1:' + address.port + '/').then(response => response.status))
      server.close()
      return statuses
    }
    /** Upstash's client sends these calls over REST, to a server of its own that knows the flags on the first line. */
    const asUpstash = client => ({
      evalsha: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
      eval: (text, keys, args) => client.eval(text.replace(/^#!.*/, ''), keys.length, ...keys, ...args),
    })
    const client = new Redis(process.env.REDIS_URL)
    const asks = {
      'express-rate-limit': ({ app }) => overHttp(app),
      'fastify-rate-limit': ({ app }) => six(() => app.inject('/').then(({ statusCode }) => statusCode)),
      'nestjs-throttler': async ({ AppModule }) => {
        const { NestFactory } = await import('@nestjs/core')
        const app = await NestFactory.create(AppModule, { logger: false })
        await app.init()
        return overHttp(app.getHttpAdapter().getInstance())
      },
      'rate-limiter-flexible': ({ mayPass }) => six(() => mayPass('user:42')),
      'upstash-ratelimit': ({ mayPass, limiterOver }) =>
        six(() => (mayPass ??= limiterOver(asUpstash(client)))('user:42')),
    }
    const told = {}
    const extension = import.meta.url.slice(-4)
    for (const [name, which] of JSON.parse(process.argv[2])) {
      told[name + ' ' + which] = await asks[name](await import('./' + name + '-' + which + extension))
    }
    console.log(JSON.stringify(told))
    process.exit()`

  const STATUSES = [200, 200, 200, 200, 200, 429]
  const PASSES = [true, true, true, true, true, false]
  const EXPECTED = {
    'express-rate-limit Before': STATUSES,
    'express-rate-limit Switched': STATUSES,
    'express-rate-limit After': STATUSES,
    'fastify-rate-limit Before': STATUSES,
    'fastify-rate-limit Switched': STATUSES,
    'fastify-rate-limit After': STATUSES,
    'nestjs-throttler Before': STATUSES,
    'nestjs-throttler After': STATUSES,
    'rate-limiter-flexible Before': PASSES,
    'rate-limiter-flexible Switched': PASSES,
    'rate-limiter-flexible After': PASSES,
    'upstash-ratelimit Before': PASSES,
    'upstash-ratelimit After': PASSES,
  }

  /** The code of a guide. `Switched` is the code before the migration with one import changed. */
  function program(name: string, which: 'Before' | 'After' | 'Switched'): string {
    if (which !== 'Switched') return code(name, which, 'ts|typescript')
    const switched = code(name, 'Before', 'ts').replace(
      /'(@fastify\/|express-|)rate-limit(er-flexible)?'/,
      `'sluice/compat/${name}'`,
    )
    expect(switched).toContain('sluice/compat')
    return switched
  }

  test('in a program', { timeout: SLOW_MS }, async () => {
    const redis = await startRedis()
    const asked = Object.keys(EXPECTED).map(key => key.split(' ') as [string, Parameters<typeof program>[1]])
    for (const [name, which] of asked) {
      const source = program(name, which)
      const exported = /^(const app|export)\b/m.exec(source)![1] === 'const app' ? '\nexport { app }\n' : ''
      writeFileSync(join(folder, `${name}-${which}.mts`), source + exported)
    }
    const compilerOptions = { experimentalDecorators: true }
    const settings = join(folder, 'tsconfig.json')
    writeFileSync(settings, JSON.stringify({ extends: '../../../tsconfig.base.json', compilerOptions }))
    writeFileSync(join(folder, 'ask.mts'), ASK)
    // Theirs run as JavaScript: tsx would load what a package requires a second time, and Nest would not know its own classes.
    const built = { outdir: folder, tsconfig: settings, target: 'node20', outExtension: { '.js': '.mjs' } }
    const isTheirs = ([, which]: (typeof asked)[number]) => which === 'Before'
    const theirs = [...asked.filter(isTheirs).map(one => one.join('-')), 'ask']
    await build({ ...built, entryPoints: theirs.map(name => join(folder, `${name}.mts`)) })
    const env = { ...process.env, REDIS_URL: `redis://${redis.host}:${redis.port}` }
    const ask = async (command: string, args: string[], programs: typeof asked): Promise<object> =>
      JSON.parse(await run(command, [...args, JSON.stringify(programs)], folder, env))
    const tsx = ['--conditions=@sluice/source', '--tsconfig', settings, join(folder, 'ask.mts')]
    const ours = asked.filter(one => !isTheirs(one))
    const told = {
      ...(await ask(process.execPath, [join(folder, 'ask.mjs')], asked.filter(isTheirs))),
      ...(await ask(join(ROOT, 'node_modules/.bin/tsx'), tsx, ours)),
    }
    await redis.stop()
    expect(told).toEqual(EXPECTED)
  })

  test("envoyproxy/ratelimit's file", { timeout: SLOW_MS }, async () => {
    const config = join(folder, 'config')
    mkdirSync(config)
    writeFileSync(join(config, 'edge.yaml'), code('envoy-ratelimit', 'Before', 'yaml'))
    expect((await sluice('check', config)).code).toBe(0)
    const { ports } = await serve(['--envoy', config])
    const of = (value: string) => ({ domain: 'edge', descriptors: [{ entries: [{ key: 'remote_address', value }] }] })
    const grpc = clientOf({ port: ports.grpc })
    const codes: unknown[] = []
    const statuses: number[] = []
    for (let n = 0; n < 6; n++) {
      codes.push(await call(grpc, of('203.0.113.7'), namedService.ShouldRateLimit))
      const body = JSON.stringify(of('203.0.113.8'))
      statuses.push((await fetch(`http://127.0.0.1:${ports.http}/json`, { method: 'POST', body })).status)
    }
    const named = PASSES.map(passes => expect.objectContaining({ overallCode: passes ? 'OK' : 'OVER_LIMIT' }))
    expect([codes, statuses]).toEqual([named, STATUSES])
  })

  test("redis-cell's command", { timeout: SLOW_MS }, async () => {
    writeFileSync(
      join(folder, 'cell.mts'),
      `${code('redis-cell', 'After', 'ts')}
      const told = []
      for (let n = 0; n < 6; n++) told.push(await mayPass(Number(process.argv[2]), process.argv[3]!))
      console.log(JSON.stringify(told))`,
    )
    const { ports } = await serve([])
    const typed = /^redis-cli (.*)$/m.exec(code('redis-cell', 'Before', 'sh'))![1]!
    expect(code('redis-cell', 'After', 'sh')).toContain(typed)
    const cli = promisify(execFile)('redis-cli', ['-p', String(ports.resp)])
    cli.child.stdin!.end(`${typed}\n`.repeat(6))
    const lines = (await cli).stdout.trim().split('\n')
    // Five lines answer each command; the first of them is 1 if it is limited.
    expect(lines.filter((_, i) => i % 5 === 0).map(limited => limited === '0')).toEqual(PASSES)
    expect(lines.slice(0, 5)).toEqual(['0', '5', '4', '-1', '2'])
    const tsx = join(ROOT, 'node_modules/.bin/tsx')
    expect(JSON.parse(await run(tsx, [join(folder, 'cell.mts'), String(ports.resp), 'user:43'], folder))).toEqual(
      PASSES,
    )
  })
})
