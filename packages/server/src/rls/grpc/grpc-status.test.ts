import { status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { GRPC_STATUS, headerText } from './grpc-status.ts'

test('the statuses are those of gRPC', () => {
  expect(status).toMatchObject(GRPC_STATUS)
})

test.each([
  ['expected a domain', 'expected a domain'],
  ['100 %', '100 %25'],
  ['~ !', '~ !'],
  ['two\r\nlines\0', 'two%0D%0Alines%00'],
  ['é', '%C3%A9'],
  ['🚦', '%F0%9F%9A%A6'],
  ['\ud83d', '%EF%BF%BD'],
  ['x'.repeat(500), 'x'.repeat(500)],
  ['x'.repeat(501), `${'x'.repeat(499)}%E2%80%A6`],
])('a message fits into a header: %j', (message, expected) => {
  expect(headerText(message)).toBe(expected)
})
