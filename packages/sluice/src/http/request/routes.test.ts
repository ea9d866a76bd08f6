import { describe, expect, test } from 'vitest'
import { routeTable } from './routes.ts'

const routesOf = routeTable([
  '/',
  '/orders/:id',
  '/orders/new',
  '/orders/:id/items/:item',
  '/files/*',
  '/x',
  '/caf\u00e9',
])
/** The most specific of those that some server may find. */
const find = (target: string) => routesOf(target)[0]

describe('a path finds its template', () => {
  test.each([
    ['/', '/'],
    ['/orders/17', '/orders/:id'],
    ['/orders/7f6d1c9e-0000-4000-8000-000000000000', '/orders/:id'],
    ['/orders/new', '/orders/new'],
    ['/orders/new/items/3', '/orders/:id/items/:item'],
    ['/files/a/b/c.txt', '/files/*'],
    ['/files', '/files/*'],
    ['/orders', undefined],
    ['/nothing', undefined],
    ['/orders/1/2', undefined],
    ['*', undefined],
    ['http://example.com/orders/17?x=1', '/orders/:id'],
    ['http://example.com?x=/orders/17', '/'],
    ['http://example.com', '/'],
    ['/caf%C3%A9', '/caf\u00e9'],
  ])('%s → %s', (path, template) => expect(find(path)).toBe(template))
})

describe('no spelling makes a second bucket (CVE-2025-71399, CVE-2026-14198, CVE-2026-2880)', () => {
  test.each([
    '/x',
    '//x',
    '/x/',
    '///x//',
    '/x;a=b',
    '/x;a=b/',
    '/X',
    '/x?a=/y',
    '/x#y',
    '/%78',
    '/%2Fx',
    '/x%2F',
    '%2Fx',
    '/./x',
    '/y/../x',
    '/x%3Ba=b',
    '/\\x',
  ])('%s', path => expect(find(path)).toBe('/x'))
})

describe('a path has one reading unless servers differ', () => {
  test.each<[string, readonly unknown[]]>([
    ['/orders/17', ['/orders/:id']],
    ['/.well-known/x', [undefined]],
    ['/orders/a%20b', ['/orders/:id']],
    ['/orders/a%2Fb', ['/orders/:id', undefined]],
    ['/files/..%2fx', ['/x', '/files/*']],
    ['/orders/1\\..\\..\\x', ['/x', '/orders/:id', undefined]],
    ['//orders/x', ['/x', '/orders/:id']],
    ['/x;/../orders/1', ['/x', '/orders/:id', undefined]],
  ])('%s', (path, routes) => expect(routesOf(path)).toEqual(routes))
})

test('a path that cannot be decoded, or is endless, is nobody’s', () => {
  expect(find('/%E0%A4%A')).toBeUndefined()
  expect(find('/x'.repeat(100_000))).toBeUndefined()
  expect(find(`/orders/${'y'.repeat(100_000)}`)).toBe('/orders/:id')
})

test('a template starts with a slash', () => {
  expect(() => routeTable(['orders'])).toThrow("expected routes as templates such as '/orders/:id' or '/files/*'")
})
