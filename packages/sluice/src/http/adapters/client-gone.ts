/** What can tell that a client of Node's `http` or `http2` has left. */
export interface Leavable {
  once(event: string, listener: () => void): unknown
  off(event: string, listener: () => void): unknown
  /** Null while the response waits behind others of a pipeline. */
  readonly socket?: object | null | undefined
  readonly req?: { readonly socket?: Connection | null | undefined } | undefined
}

interface Connection {
  readonly destroyed?: boolean
  once?(event: string, listener: () => void): unknown
}

/**
 * Calls back when nothing more can be sent; soon, where the client has left already, while the guard was asked. What it
 * returns stops that. A response that waits behind others of a pipeline is never told that its connection has closed: then
 * the connection itself is watched.
 */
export function whenGone(response: Leavable, callback: () => void): () => void {
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

/** One listener for a connection, however long its pipeline is: Node takes more than ten for a leak. */
const pipelines = new WeakMap<Connection, Set<() => void>>()

function waitingFor(connection: Connection): Set<() => void> {
  const known = pipelines.get(connection)
  if (known !== undefined) return known
  const waiting = new Set<() => void>()
  pipelines.set(connection, waiting)
  connection.once!('close', () => {
    for (const callback of waiting) callback()
  })
  return waiting
}
