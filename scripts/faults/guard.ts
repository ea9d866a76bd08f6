import type { Fault } from './fault.ts'

/** Faults of the guard around a limiter in a server. */
export const guardFaults: readonly Fault[] = [
  {
    law: [11],
    part: 'guard',
    says: 'a Fastify request of another copy is taken for one without a route',
    file: 'http/adapters/fastify-route.ts',
    find: 'route === undefined ? askedFor(request) :',
    replace: 'place === undefined ? askedFor(request) : route === undefined ? NO_CONFIG :',
    tests: ['http/adapters/fastify-route.test.ts'],
  },
  {
    law: [2],
    part: 'guard',
    says: 'the fields of a limiter that was asked before are written over',
    file: 'http/adapters/node-exchange.ts',
    find: '(there.includes(inLowerCase(name)) ? response.getHeader(name) : undefined)',
    replace: '(there.includes(inLowerCase(name)) ? undefined : undefined)',
    tests: ['http/adapters/node-exchange.test.ts'],
  },
]
