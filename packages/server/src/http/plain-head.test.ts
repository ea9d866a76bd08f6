import { describe, expect, test } from 'vitest'
import { API } from './api.ts'
import { PlainHeads } from './plain-head.ts'

const LINE = 'POST /v1/check HTTP/1.1'
const heads = new PlainHeads(API)
const read = (...lines: string[]) => heads.read(`${lines.join('\r\n')}\r\n\r\n`)

test('a plain head gives the route, the length and the caller', () => {
  const head = read(LINE, 'Host: a', 'content-length: 12', 'AUTHORIZATION:  Bearer x ', 'X-Any: \x80 thing', 'X-Any: b')
  expect(head).toMatchObject({ route: { path: '/v1/check' }, length: 12, authorization: 'Bearer x' })
})

test.each([
  ['POST /v1/peek HTTP/1.1', 'Host: a', 'Content-Length: 0'],
  [LINE, 'Host: a', 'Content-Length: 5', 'Connection: Keep-Alive'],
  [LINE, 'Host:', 'Content-Length: 5'],
  [LINE, 'Content-Length:5', 'Host:\ta\t'],
])('%s %s %s is plain', (...lines) => {
  expect(read(...lines)).toBeDefined()
})

describe('a head that could be read in two ways is left to Node', () => {
  const OK = ['Host: a', 'Content-Length: 5']
  test.each([
    ['another version', 'POST /v1/check HTTP/1.0', ...OK],
    ['another method', 'PUT /v1/check HTTP/1.1', ...OK],
    ['a method in lower case', 'post /v1/check HTTP/1.1', ...OK],
    ['a GET', 'GET /v1/explain HTTP/1.1', ...OK],
    ['a query', 'POST /v1/check?a=b HTTP/1.1', ...OK],
    ['another path', 'POST /v1/other HTTP/1.1', ...OK],
    ['an absolute target', 'POST http://a/v1/check HTTP/1.1', ...OK],
    ['a call for operators', 'POST /v1/reset HTTP/1.1', ...OK],
    ['two spaces', 'POST  /v1/check HTTP/1.1', ...OK],
    ['a space at the end', `${LINE} `, ...OK],
    ['no host', LINE, 'Content-Length: 5'],
    ['two hosts', LINE, 'Host: a', 'Host: a', 'Content-Length: 5'],
    ['no length', LINE, 'Host: a'],
    ['two lengths', LINE, ...OK, 'Content-Length: 5'],
    ['a list of lengths', LINE, 'Host: a', 'Content-Length: 5, 5'],
    ['a signed length', LINE, 'Host: a', 'Content-Length: +5'],
    ['a negative length', LINE, 'Host: a', 'Content-Length: -5'],
    ['a length in hexadecimal', LINE, 'Host: a', 'Content-Length: 0x5'],
    ['an empty length', LINE, 'Host: a', 'Content-Length: '],
    ['a tab behind the length', LINE, 'Host: a', 'Content-Length: 5\t'],
    ['a space behind the length', LINE, 'Host: a', 'Content-Length: 5 '],
    ['a tab behind the wish to stay', LINE, ...OK, 'Connection: keep-alive\t'],
    ['more than a body may have', LINE, 'Host: a', 'Content-Length: 1048577'],
    ['chunks', LINE, ...OK, 'Transfer-Encoding: chunked'],
    ['chunks, spelt otherwise', LINE, ...OK, 'tRANSFER-eNCODING: x'],
    ['an expectation', LINE, ...OK, 'Expect: 100-continue'],
    ['an upgrade', LINE, ...OK, 'Upgrade: h2c'],
    ['the wish to close', LINE, ...OK, 'Connection: close'],
    ['several wishes', LINE, ...OK, 'Connection: keep-alive, upgrade'],
    ['a wish said twice', LINE, ...OK, 'Connection: keep-alive', 'Connection: keep-alive'],
    ['two authorizations', LINE, ...OK, 'Authorization: a', 'Authorization: b'],
    ['a space before the colon', LINE, ...OK, 'X-Any : a'],
    ['a space before the name', LINE, ...OK, ' X-Any: a'],
    ['a folded line', LINE, ...OK, 'X-Any: a', ' b'],
    ['a line without a colon', LINE, ...OK, 'X-Any'],
    ['no name', LINE, ...OK, ': a'],
    ['a name that is none', LINE, ...OK, 'X(Any): a'],
    ['a lone line feed', LINE, ...OK, 'X-Any: a\nTransfer-Encoding: chunked'],
    ['a lone carriage return', LINE, ...OK, 'X-Any: a\rTransfer-Encoding: chunked'],
    ['a NUL', LINE, ...OK, 'X-Any: \0'],
    ['a DEL', LINE, ...OK, 'X-Any: \x7f'],
  ])('%s', (_, ...lines) => {
    expect(read(...lines)).toBeUndefined()
  })
})

test('the end of a head is where its empty line ends, if it is not too far', () => {
  expect(heads.endIn('a\r\n\r\nb\r\n\r\n')).toBe(5)
  expect(heads.endIn('a\r\n\r')).toBe(-1)
  expect(heads.endIn('a\n\nb')).toBe(-1)
  expect(heads.endIn(`${'a'.repeat(5000)}\r\n\r\n`)).toBe(-1)
})

test('a stream of ever new heads does not fill the cache, and each head is still read', () => {
  const few = new PlainHeads(API)
  for (let i = 0; i < 2500; i++) {
    expect(few.read(`${LINE}\r\nHost: a\r\nContent-Length: ${i}\r\n\r\n`)?.length).toBe(i)
  }
  expect((few as unknown as { known: Map<string, unknown> }).known.size).toBeLessThanOrEqual(1000)
})
