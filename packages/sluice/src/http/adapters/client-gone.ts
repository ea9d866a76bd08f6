/** The parts of a response of Node's `http` or `http2` that tell whether its client has left. */
export interface ClosingResponse {
  once(event: string, listener: () => void): unknown
  off(event: string, listener: () => void): unknown
  /** Null while the response waits behind other pipelined responses. */
  readonly socket?: object | null | undefined
  readonly req?: { readonly socket?: ClientSocket | null | undefined } | undefined
}

interface ClientSocket {
  readonly destroyed?: boolean
  once?(event: string, listener: () => void): unknown
}

/**
 * Calls back when the connection has closed; in the next microtask if it closed before this call, while the guard waited
 * for its store. The function it returns removes the callback. Node emits no 'close' on a response that waits behind other
 * pipelined responses, so for such a response this watches the connection itself.
 */
export function whenGone(response: ClosingResponse, callback: () => void): () => void {
  const connection = response.req?.socket
  if (connection?.destroyed === true) queueMicrotask(callback)
  const waiting = response.socket === null && connection?.once ? waitingFor(connection) : undefined
  waiting?.add(callback)
  response.once('close', callback)
  return () => {
    waiting?.delete(callback)
    response.off('close', callback)
  }
}

/** One listener per connection, however long its pipeline is: Node warns of a leak at more than ten. */
const pipelines = new WeakMap<ClientSocket, Set<() => void>>()

function waitingFor(connection: ClientSocket): Set<() => void> {
  const known = pipelines.get(connection)
  if (known !== undefined) return known
  const waiting = new Set<() => void>()
  pipelines.set(connection, waiting)
  connection.once!('close', () => {
    for (const callback of waiting) callback()
  })
  return waiting
}
