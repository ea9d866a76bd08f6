import { createServer } from 'node:http'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import express from 'express'
import Koa from 'koa'
import { expect, test } from 'vitest'
import type { Open } from '../../fixtures/http/adapter-suite/site.ts'
import { SiteRunner } from '../../fixtures/http/adapter-suite/site-runner.ts'
import { heard } from '../../fixtures/http/fake-exchange.ts'
import { decorate } from '../../fixtures/http/nest/decorate.ts'
import { rateLimit } from '../express.ts'
import type { GuardOptions } from '../guard/guard-options.ts'
import { rateLimit as koaLimit } from '../koa.ts'
import { RateLimitModule } from '../nest.ts'

const frameworks: [name: string, setting: string, open: (trusts: boolean) => Open][] = [
  [
    'Express',
    "Express' trust proxy",
    trusts =>
      ({ limiters }) => {
        const app = express().set('trust proxy', trusts && 1)
        app.use(rateLimit(limiters[0]!))
        app.get('/hello', (_, response) => void response.send('hello'))
        return createServer(app)
      },
  ],
  [
    'Koa',
    "Koa's app.proxy",
    trusts =>
      ({ limiters }) => {
        const app = new Koa({ proxy: trusts }).use(koaLimit(limiters[0]!))
        return createServer(app.callback())
      },
  ],
  [
    'Nest',
    "Express' trust proxy",
    trusts =>
      async ({ limiters }) => {
        class Pages {
          hello() {
            return 'hello'
          }
        }
        decorate(Pages, [Controller()], { hello: [Get('hello')] })
        class Site {}
        Module({ imports: [RateLimitModule.forRoot(limiters[0]!)], controllers: [Pages] })(Site)
        const adapter = new ExpressAdapter()
        adapter.set('trust proxy', trusts && 1)
        const app = await NestFactory.create(Site, adapter, { logger: false, abortOnError: false })
        await app.init()
        return app.getHttpServer()
      },
  ],
]

async function warned(open: Open, options: Partial<GuardOptions>): Promise<string[]> {
  const { events, onEvent } = heard()
  await new SiteRunner(open).serve({ policy: '1000/m', onEvent, ...options } as GuardOptions, async site => {
    for (let i = 0; i < 3; i++) await site.ask('GET', '/hello')
  })
  return events.flatMap(event => (event.type === 'warning' ? [`${event.code} ${event.message}`] : []))
}

test.each(frameworks)('%s trusts a proxy and the guard does not: told once', async (_, setting, open) => {
  expect(await warned(open(true), {})).toEqual([
    expect.stringMatching(`^SLUICE_UNTRUSTED_FORWARDING ${setting} is set, .*; set trustProxy of rateLimit\\(\\) to`),
  ])
})

test.each(frameworks)('%s: nothing is said where both do, or neither', async (_name, _setting, open) => {
  expect(await warned(open(true), { trustProxy: 1 })).toEqual([])
  expect(await warned(open(false), {})).toEqual([])
})
