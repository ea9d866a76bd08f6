import { describe, expect, test } from 'vitest'
import { ask, type FakeRequest, type FakeView, leftIn } from '../../fixtures/http/fake-exchange.ts'
import { fixedWindow } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardLimit, ip } from '../index.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1m' })

describe('cost', () => {
  const table = { '/search': 5, 'POST /orders': 3, '/orders': 2, '/free': 0, '/': 7 }

  test.each<[string, GuardLimit<FakeView>['cost'], FakeRequest, number]>([
    ['a number', 4, {}, 4],
    ['a function', r => r.items, { items: 6 }, 6],
    ['0, which only looks', 0, {}, 0],
    ['by route', table, { route: '/search' }, 5],
    ['by method and route', table, { route: '/orders', method: 'POST' }, 3],
    ['by route, whatever else the method', table, { route: '/orders', method: 'PUT' }, 2],
    ['by route, however it is spelt', table, { route: '/Search/' }, 5],
    ['nothing by route', table, { route: '/free' }, 0],
    ['by the home page', table, { route: '/' }, 7],
    ['1 for a route that is not in the table', table, { route: '/other' }, 1],
    ['1 where no route matches: that is not the home page', table, { path: '/nowhere' }, 1],
    ['HEAD as GET', { 'GET /a': 4 }, { route: '/a', method: 'HEAD' }, 4],
    ['a method in lower case', { 'post /a': 4 }, { route: '/a', method: 'POST' }, 4],
    ['by a template', { '/a/:id': 4 }, { route: '/a/:id' }, 4],
  ])('%s', (_name, cost, request, taken) => {
    const guard = createGuard({ policy: of(10), cost: cost!, clock: fakeClock() })
    expect(leftIn(ask(guard, request))).toEqual({ default: 10 - taken })
  })

  test('is of one limit, not of the others', () => {
    const guard = createGuard({
      limits: { calls: { policy: of(10), key: ip() }, units: { policy: of(10), key: ip(), cost: 4 } },
      clock: fakeClock(),
    })
    ask(guard)
    expect(leftIn(ask(guard))).toEqual({ calls: 8, units: 2 })
    expect(leftIn(ask(guard))).toEqual({ calls: 8, units: 2 })
  })
})
