/** A place in the chain: what stands alone stands between itself and itself. */
export interface CallLink {
  before: CallLink
  after: CallLink
}

/**
 * The calls that are neither answered nor given up: each of them waits for somebody, but not for ever. They are chained
 * to each other, because a Set of what comes and goes within milliseconds costs the garbage collector a sixth of all the
 * time that a call takes.
 */
export class OpenCalls<C extends CallLink> {
  private readonly ends: CallLink

  constructor() {
    const ends = {} as CallLink
    ends.before = ends
    ends.after = ends
    this.ends = ends
  }

  add(call: C): void {
    const { ends } = this
    call.before = ends
    call.after = ends.after
    ends.after.before = call
    ends.after = call
  }

  /** One that is not there, or not any more, stays as it is. */
  delete(call: C): void {
    call.before.after = call.after
    call.after.before = call.before
    call.before = call
    call.after = call
  }

  all(): C[] {
    const calls: C[] = []
    for (let link = this.ends.after; link !== this.ends; link = link.after) calls.push(link as C)
    return calls
  }
}
