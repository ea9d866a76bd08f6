import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ResponseQueue } from './response-queue.ts'

function queue() {
  const left: string[] = []
  const errors: unknown[] = []
  const box = new ResponseQueue(error => errors.push(error))
  const put = (name: string, then = () => {}) =>
    box.put({
      leave: () => {
        left.push(name)
        then()
      },
    })
  return { put, left, errors }
}

test('the answers of one turn are sent at its end, in order', async () => {
  const { put, left } = queue()
  put('a')
  await Promise.resolve()
  put('b')
  expect(left).toEqual([])
  await turn()
  expect(left).toEqual(['a', 'b'])
})

test('an answer that becomes ready while others are sent waits for the next turn', async () => {
  const { put, left } = queue()
  put('a', () => put('c'))
  put('b')
  await turn()
  expect(left).toEqual(['a', 'b'])
  await turn()
  expect(left).toEqual(['a', 'b', 'c'])
})

test('an answer that cannot be sent is reported and does not hold up the others', async () => {
  const { put, left, errors } = queue()
  const broken = new Error('the stream is gone')
  put('a', () => {
    throw broken
  })
  put('b')
  await turn()
  expect(left).toEqual(['a', 'b'])
  expect(errors).toEqual([broken])
})
