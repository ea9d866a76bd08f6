/** Invalid RESP. The client gets the error, then the connection closes, as it is not known where the next command starts. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'

  constructor(what: string) {
    super(`Protocol error: ${what}`)
  }
}
