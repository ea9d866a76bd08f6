import 'reflect-metadata'
import { createRequire } from 'node:module'
import { Controller, Get, Module, UseGuards } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Redis } from 'ioredis'
import * as modules from 'sluice'
import * as fetchModules from 'sluice/fetch'
import * as httpModules from 'sluice/http'
import * as nestModules from 'sluice/nest'
import * as redisModules from 'sluice/redis'
import * as rulesModules from 'sluice/rules'

const require = createRequire(import.meta.url)
const builds = [
  { ...modules, ...httpModules, ...redisModules, ...rulesModules, fetch: fetchModules, nest: nestModules },
  { ...require('sluice'), ...require('sluice/http'), ...require('sluice/redis'), ...require('sluice/rules') },
]
builds[1].fetch = require('sluice/fetch')
builds[1].nest = require('sluice/nest')

const thrownBy = act => {
  try {
    act()
  } catch (error) {
    return error
  }
}
const tokens = { capacity: 2, refill: '1/h' }
const ask = served => served(new Request('http://localhost/')).then(({ status }) => status)

/** A module of one build, with a handler that asks for the guard of the other build by name. */
async function nestStatuses(one, other) {
  class Hello {
    hello() {
      return 'hello'
    }
  }
  Get()(Hello.prototype, 'hello', Object.getOwnPropertyDescriptor(Hello.prototype, 'hello'))
  UseGuards(other.nest.RateLimitGuard)(Hello)
  Controller()(Hello)
  class App {}
  Module({ imports: [one.nest.RateLimitModule.forRoot({ policy: '2/h' })], controllers: [Hello] })(App)
  const app = await NestFactory.create(App, { logger: false })
  await app.listen(0, '127.0.0.1')
  const statuses = []
  for (let n = 0; n < 3; n++) statuses.push((await fetch(await app.getUrl())).status)
  await app.close()
  return statuses
}

/** Passes objects of one build to the other. */
async function facts(one, other) {
  const lone = one.createLimiter(other.tokenBucket(tokens))
  const store = other.memoryStore()
  const [a, b] = [one, other].map(build =>
    build.createLimiter({ name: 'x', store, limits: { all: { policy: '2/h' } } }),
  )
  const taken = [a.consume({}), b.consume({})]
  const full = a.consume({}).allowed
  a.refund(taken[1])
  const guard = other.createGuard({ policy: '1/h' })
  const byGuard = one.fetch.rateLimit(guard)(() => new Response())
  const limits = {
    caller: { policy: other.slidingLog({ limit: 1, window: '1h' }), key: one.all(other.ip(), other.route()) },
  }
  const byIdentity = one.fetch.rateLimit({ limits })(() => new Response())
  const logins = one.fetch.rateLimit({ limits: other.loginLimits({ pair: '1/15m' }) })(
    () => new Response(null, { status: 401 }),
  )
  const closed = new Redis({ port: 1, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => null })
  closed.on('error', () => {})
  const remote = one.createLimiter('5/m', { store: other.redisStore(closed), onOutage: 'closed' })
  const outage = await remote.consume('a')
  const unavailable = await remote.reset('a').catch(error => error)
  await remote.close()
  closed.disconnect()
  const misuse = thrownBy(() => other.createLimiter('1/s').consume('a', { cost: -1 }))
  class Mine extends one.SluiceError {}
  return {
    'they are two builds': one.createLimiter !== other.createLimiter,
    policy: [lone.consume('a', { cost: 2 }).allowed, lone.consume('a').allowed],
    'one store for both': [taken.map(decision => decision.allowed), full],
    'a decision is refunded by the other': a.consume({}).allowed,
    guard: [await ask(byGuard), await ask(byGuard)],
    identity: [await ask(byIdentity), await ask(byIdentity)],
    'a request to Nest counts once': await nestStatuses(one, other),
    'logins are counted': [await ask(logins), await ask(logins)],
    outage: [outage.allowed, outage.degraded],
    'a failure of the store': unavailable instanceof one.StoreUnavailable,
    misuse: [misuse instanceof one.SluiceError, misuse instanceof Mine, misuse instanceof one.StoreUnavailable],
    'rules that are wrong': thrownBy(() => other.readRules({ limits: { a: {} } })) instanceof one.RulesError,
    'no mark, no error': [{} instanceof one.SluiceError, null instanceof one.SluiceError],
  }
}

console.log(JSON.stringify(await Promise.all([facts(...builds), facts(...builds.toReversed())])))
