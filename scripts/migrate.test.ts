import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startRedis } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run as sluice } from '../packages/server/src/fixtures/command/run.ts'
import { serve } from '../packages/server/src/fixtures/process.ts'
import { ROOT, run } from './consumers/pack.ts'

const SLOW_MS = 300_000
const guide = (name: string) => readFileSync(join(ROOT, `docs/migrate/${name}.md`), 'utf8')

/** The code under `## Before` or `## After`. */
function code(name: string, heading: 'Before' | 'After', language: string): string {
  const section = guide(name).split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!
  return new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(section)![1]!
}

describe('every option of theirs has its row', () => {
  /** The members of types in a package's declarations. */
  function members(path: string, types: readonly string[]): string[] {
    const source = readFileSync(join(ROOT, 'node_modules', path), 'utf8')
    const found = types.flatMap(type => {
      const body = new RegExp(`(?:interface|type) ${type}\\b[^{]*\\{\n(.*?)^\\s{0,2}\\}`, 'ms').exec(source)?.[1] ?? ''
      const indent = /^(\s+)(?:\w+\??:|\/\*\*)/m.exec(body)?.[1] ?? ''
      const names = [...body.matchAll(new RegExp(`^${indent}(\\w+)\\??:`, 'gm'))].map(([, name]) => name!)
      expect(names, `${type} in ${path}`).not.toEqual([])
      return names
    })
    return [...new Set(found)]
  }

  test.each<[name: string, options: () => string[]]>([
    ['express-rate-limit', () => members('express-rate-limit/dist/index.d.ts', ['Options'])],
    [
      'fastify-rate-limit',
      () =>
        members('@fastify/rate-limit/types/index.d.ts', [
          ...['CreateRateLimitOptions', 'RateLimitOptions', 'RateLimitPluginOptions'],
        ]),
    ],
    [
      'rate-limiter-flexible',
      () =>
        members(
          'rate-limiter-flexible/types.d.ts',
          ['', 'Cluster', 'Store', 'StoreNoAutoExpiry', 'Mongo', 'Postgres', 'Redis', 'Valkey'].map(
            what => `IRateLimiter${what}Options`,
          ),
        ),
    ],
    [
      'upstash-ratelimit',
      () => members('@upstash/ratelimit/dist/index.d.ts', ['RegionRatelimitConfig', 'MultiRegionRatelimitConfig']),
    ],
    [
      'nestjs-throttler',
      () => [
        ...['throttlers', 'name', 'limit', 'ttl', 'blockDuration', 'ignoreUserAgents', 'skipIf', 'getTracker'],
        ...['generateKey', 'errorMessage', 'storage', 'setHeaders'],
      ],
    ],
    ['redis-cell', () => ['key', 'max_burst', 'count', 'period', 'quantity']],
  ])('%s', (name, options) => {
    const rows = [...guide(name).matchAll(/^\| (.*?) \|/gm)].map(([, first]) => first!)
    const named = rows.flatMap(row => [...row.matchAll(/`(\w+)/g)].map(([, option]) => option!))
    expect(options().filter(option => !named.includes(option))).toEqual([])
  })
})

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

  /** Six requests to each, by a program that knows how to ask what a guide makes. */
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
    for (const [name, heading] of JSON.parse(process.argv[2])) {
      told[name + ' ' + heading] = await asks[name](await import('./' + name + '-' + heading + '.mts'))
    }
    console.log(JSON.stringify(told))
    process.exit()`

  const STATUSES = [200, 200, 200, 200, 200, 429]
  const PASSES = [true, true, true, true, true, false]
  const EXPECTED = {
    'express-rate-limit Before': STATUSES,
    'express-rate-limit After': STATUSES,
    'fastify-rate-limit Before': STATUSES,
    'fastify-rate-limit After': STATUSES,
    // Theirs is not installed.
    'nestjs-throttler After': STATUSES,
    'rate-limiter-flexible Before': PASSES,
    'rate-limiter-flexible After': PASSES,
    'upstash-ratelimit Before': PASSES,
    'upstash-ratelimit After': PASSES,
  }

  test('in a program', { timeout: SLOW_MS }, async () => {
    const redis = await startRedis()
    const asked = Object.keys(EXPECTED).map(key => key.split(' ') as [string, 'Before' | 'After'])
    for (const [name, heading] of asked) {
      const source = code(name, heading, 'ts')
      const exported = /^(const app|export)\b/m.exec(source)![1] === 'const app' ? '\nexport { app }\n' : ''
      writeFileSync(join(folder, `${name}-${heading}.mts`), source + exported)
    }
    writeFileSync(join(folder, 'ask.mts'), ASK)
    const compilerOptions = { experimentalDecorators: true }
    const settings = join(folder, 'tsconfig.json')
    writeFileSync(settings, JSON.stringify({ extends: '../../../tsconfig.base.json', compilerOptions }))
    const options = ['--conditions=@sluice/source', '--tsconfig', settings, join(folder, 'ask.mts')]
    const env = { ...process.env, REDIS_URL: `redis://${redis.host}:${redis.port}` }
    const told = await run(join(ROOT, 'node_modules/.bin/tsx'), [...options, JSON.stringify(asked)], folder, env)
    await redis.stop()
    expect(JSON.parse(told)).toEqual(EXPECTED)
  })

  test("envoyproxy/ratelimit's file", { timeout: SLOW_MS }, async () => {
    const config = join(folder, 'config')
    mkdirSync(config)
    writeFileSync(join(config, 'edge.yaml'), code('envoy-ratelimit', 'Before', 'yaml'))
    expect((await sluice('check', config)).code).toBe(0)
    const { ports } = await serve(['--envoy', config])
    const entries = [{ key: 'remote_address', value: '203.0.113.7' }]
    const body = JSON.stringify({ domain: 'edge', descriptors: [{ entries }] })
    const statuses: number[] = []
    for (let n = 0; n < 6; n++) {
      statuses.push((await fetch(`http://127.0.0.1:${ports.http}/json`, { method: 'POST', body })).status)
    }
    expect(statuses).toEqual(STATUSES)
  })

  test("redis-cell's command", { timeout: SLOW_MS }, async () => {
    writeFileSync(
      join(folder, 'cell.mts'),
      `${code('redis-cell', 'After', 'ts')}
      const told = []
      for (let n = 0; n < 6; n++) told.push(await mayPass(Number(process.argv[2]), 'user:42'))
      console.log(JSON.stringify(told))`,
    )
    const { ports } = await serve([])
    const tsx = join(ROOT, 'node_modules/.bin/tsx')
    expect(JSON.parse(await run(tsx, [join(folder, 'cell.mts'), String(ports.resp)], folder))).toEqual(PASSES)
  })
})
