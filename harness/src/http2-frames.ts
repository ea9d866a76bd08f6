/** Builds HTTP/2 frames, for tests that send bytes which no client library would send. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export const FRAME_HEAD = 9
export const DATA = 0
export const HEADERS = 1
export const RST_STREAM = 3
export const SETTINGS = 4
export const PING = 6
export const GOAWAY = 7
export const WINDOW_UPDATE = 8

/** A flag of DATA and HEADERS. */
export const END_STREAM = 1
/** A flag of SETTINGS and PING. */
export const ACK = 1
/** A flag of HEADERS. */
export const END_HEADERS = 4

export function frame(type: number, flags: number, stream = 0, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(FRAME_HEAD)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}
