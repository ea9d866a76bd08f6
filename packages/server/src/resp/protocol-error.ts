/** Bytes that are no RESP: the connection is told so, then closed, since nobody knows where its next command starts. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'

  constructor(what: string) {
    super(`Protocol error: ${what}`)
  }
}
