import { describe, expect, test } from 'vitest'
import { type FakeRequest, factsOf } from '../../fixtures/http/fake-exchange.ts'

describe('what a function of the user sees', () => {
  test('the facts, and below them the request as the framework made it', () => {
    const request = { from: '::ffff:192.0.2.9', route: '/a/:id', user: { id: 1 }, headers: { 'x-a': 'b' } }
    const { view } = factsOf(request)
    expect([view.ip, view.route, view.method, view.header('X-A')]).toEqual(['192.0.2.9', '/a/:id', 'GET', 'b'])
    expect(view.user).toBe(request.user)
    expect(view.raw).toBe(request)
    expect(view.nothing).toBeUndefined()
  })

  test('a fact wins over what the request calls by the same name', () => {
    const { view } = factsOf({ from: '192.0.2.9', ip: '10.0.0.1', method: 'HEAD', route: '/a', raw: 'raw' })
    expect([view.ip, view.method, view.route]).toEqual(['192.0.2.9', 'GET', '/a'])
  })

  test('methods of the request keep it as their own', () => {
    class Request {
      readonly #secret = 'kept'
      tell() {
        return this.#secret
      }
      get told() {
        return this.#secret
      }
    }
    const { view } = factsOf(new Request() as unknown as FakeRequest)
    expect([view.tell(), view.told]).toEqual(['kept', 'kept'])
  })

  test('what is there can be asked for, and nothing be changed', () => {
    const request: FakeRequest = { user: 'ann' }
    const { view } = factsOf(request)
    expect(['ip' in view, 'user' in view, 'tenant' in view]).toEqual([true, true, false])
    expect(() => Object.assign(view, { user: 'bob' })).toThrow(TypeError)
    expect(request.user).toBe('ann')
  })
})

describe('each thing is read once', () => {
  test('the address and the route stay what they were when they were first asked for', () => {
    const request: FakeRequest = { from: '192.0.2.1', route: '/before' }
    const facts = factsOf(request)
    const first = [facts.ip, facts.route]
    Object.assign(request, { from: '192.0.2.2', route: '/after' })
    expect([facts.ip, facts.route]).toEqual(first)
  })

  test('that there is no route, too', () => {
    const request: FakeRequest = {}
    const facts = factsOf(request)
    expect(facts.route).toBeUndefined()
    Object.assign(request, { route: '/late' })
    expect(facts.route).toBeUndefined()
  })
})

describe('the method', () => {
  test.each([
    ['GET', 'GET'],
    ['HEAD', 'GET'],
    ['POST', 'POST'],
    ['PROPFIND', 'PROPFIND'],
  ])('%s is %s', (method, view) => {
    expect(factsOf({ method }).method).toBe(view)
  })
})

describe('the route', () => {
  test.each([
    ['/orders/17', '/orders/:id'],
    ['//orders/17/', '/orders/:id'],
    ['/ORDERS/17;a=b?c=d', '/orders/:id'],
    ['/orders%2F17', '/orders/:id'],
    ['/elsewhere', undefined],
  ])('of %s is found in the table, whatever the framework says', (path, template) => {
    expect(factsOf({ path, route: '/framework' }, { routes: ['/orders/:id'] }).route).toBe(template)
  })

  test('without a table it is what the framework says', () => {
    expect(factsOf({ path: '/orders/17', route: '/orders/:number' }).route).toBe('/orders/:number')
  })
})

describe('the address', () => {
  test('is cut to its network, and whole for lists', () => {
    const facts = factsOf({ from: '2001:db8:1:2:3:4:5:6' })
    expect([facts.ip, facts.wholeIp]).toEqual(['2001:db8:1:2::/64', '2001:db8:1:2:3:4:5:6'])
  })

  test('is that of the socket, whatever headers say, unless a proxy is trusted', () => {
    const request = { from: '192.0.2.1', headers: { 'x-forwarded-for': '203.0.113.1', forwarded: 'for=203.0.113.2' } }
    expect(factsOf(request).ip).toBe('192.0.2.1')
    expect(factsOf(request, { trustProxy: 1 }).ip).toBe('203.0.113.1')
    expect(factsOf(request, { trustProxy: 1, addressFrom: 'forwarded' }).ip).toBe('203.0.113.2')
  })

  test('is one for all whose address is not known', () => {
    expect(factsOf({ from: 'junk' }).ip).toBe(factsOf({ from: '' }).ip)
  })
})
