import type { BenchCase } from '../bench-case.ts'
import { inSeveral, type Measured, measure, ranked, type Settings } from '../harness.ts'
import { print } from '../report.ts'
import type { ServerName } from './servers.ts'
import { Site } from './site.ts'

interface Field {
  readonly name: string
  readonly sluice: ServerName
  readonly peer: readonly [label: string, server: ServerName]
  readonly bare: ServerName
  readonly byHand: ServerName
}

const PROCESSES = 3

const fields: readonly Field[] = [
  {
    name: 'Express, one limit',
    sluice: 'express sluice',
    peer: ['express-rate-limit', 'express express-rate-limit'],
    bare: 'express bare',
    byHand: 'express by hand',
  },
  {
    name: 'Express, three limits',
    sluice: 'express sluice three',
    peer: ['express-rate-limit, three of them', 'express express-rate-limit three'],
    bare: 'express bare',
    byHand: 'express by hand three',
  },
  {
    name: 'Fastify, one limit',
    sluice: 'fastify sluice',
    peer: ['@fastify/rate-limit', 'fastify @fastify/rate-limit'],
    bare: 'fastify bare',
    byHand: 'fastify by hand',
  },
  {
    name: 'Fastify, three limits',
    sluice: 'fastify sluice three',
    peer: ['@fastify/rate-limit, one limit', 'fastify @fastify/rate-limit'],
    bare: 'fastify bare',
    byHand: 'fastify by hand three',
  },
  {
    name: 'Hono, one limit',
    sluice: 'hono sluice',
    peer: ['hono-rate-limiter', 'hono hono-rate-limiter'],
    bare: 'hono bare',
    byHand: 'hono by hand',
  },
  {
    name: 'node:http, one limit',
    sluice: 'node sluice',
    peer: ['rate-limiter-flexible, by hand', 'node rate-limiter-flexible'],
    bare: 'node bare',
    byHand: 'node by hand',
  },
]

/** Requests a second, and the server's CPU time for each: the load generator has the other core. */
export const cases: readonly BenchCase[] = fields.map(field => ({
  name: field.name,
  async run(settings) {
    const measured = await inSeveral(PROCESSES, settings, own => inOneProcess(field, own))
    const rates = ranked(measured, one => one.rates, 'more')
    print({ bench: 'http', case: field.name, unit: 'requests/s', better: 'more', ...rates })
    const cpu = ranked(measured, one => one.readings.serverUs!, 'less')
    print({ bench: 'http', case: `${field.name}: server CPU`, unit: 'µs/request', better: 'less', ...cpu })
  },
}))

async function inOneProcess({ sluice, peer, bare, byHand }: Field, settings: Settings): Promise<readonly Measured[]> {
  const site = await Site.open([sluice, sluice, peer[1], byHand, bare])
  const ours = [site.contestant('sluice', 0), site.contestant('sluice', 1)]
  try {
    return await measure(
      {
        sluice: () => ours.pop()!,
        peers: [site.contestant(peer[0], 2)],
        references: [site.contestant('two headers by hand', 3), site.contestant('no limiter at all', 4)],
        fill: 0, // the site is warm
        gauge: site,
      },
      settings,
    )
  } finally {
    site.close()
  }
}
