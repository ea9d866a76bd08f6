import { expect, test } from 'vitest'
import type { GrpcCall } from './grpc-call.ts'
import { type CallLink, OpenCalls } from './open-calls.ts'

/** As much of a call as the chain knows of. */
function call(): GrpcCall {
  const link = {} as CallLink
  link.before = link
  link.after = link
  return link as GrpcCall
}

test('the list has the calls that were added and not deleted, in whatever order others were deleted', () => {
  const [a, b, c] = [call(), call(), call()]
  for (const order of [
    [a, b, c],
    [a, c, b],
    [b, a, c],
    [b, c, a],
    [c, a, b],
    [c, b, a],
  ]) {
    const open = new OpenCalls()
    for (const one of [a, b, c]) open.add(one)
    const left = new Set([a, b, c])
    for (const one of order) {
      expect(new Set(open.all())).toEqual(left)
      open.delete(one)
      left.delete(one)
    }
    expect(open.all()).toEqual([])
  }
})

test('deleting a call twice, or one that is not in the list, leaves the others alone', () => {
  const open = new OpenCalls()
  const [a, b, stranger] = [call(), call(), call()]
  open.add(a)
  open.add(b)
  open.delete(stranger)
  open.delete(a)
  open.delete(a)
  expect(open.all()).toEqual([b])
})
