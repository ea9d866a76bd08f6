import type { Call } from './grpc-call.ts'

/** A place in the chain: what stands alone stands between itself and itself. */
export interface Link {
  before: Link
  after: Link
}

/**
 * The calls that are neither answered nor given up: each of them waits for somebody, but not for ever. They are chained
 * to each other, because a Set of what comes and goes within milliseconds costs the garbage collector a sixth of all the
 * time that a call takes.
 */
export class OpenCalls {
  private readonly ends: Link

  constructor() {
    const ends = {} as Link
    ends.before = ends
    ends.after = ends
    this.ends = ends
  }

  add(call: Call): void {
    const { ends } = this
    call.before = ends
    call.after = ends.after
    ends.after.before = call
    ends.after = call
  }

  /** One that is not there, or not any more, stays as it is. */
  delete(call: Call): void {
    call.before.after = call.after
    call.after.before = call.before
    call.before = call
    call.after = call
  }

  all(): Call[] {
    const calls: Call[] = []
    for (let link = this.ends.after; link !== this.ends; link = link.after) calls.push(link as Call)
    return calls
  }
}
