import type { Exchange } from '../http/load.ts'

const BODY = '{"ip":"203.0.113.7","cost":1}'

/** A check, and the end of every decision, by which a whole response is recognized. */
export const CHECK: Exchange = {
  request: Buffer.from(
    `POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
  ),
  end: Buffer.from(']}'),
}

/** As long as a decision over one limit. */
export const ANSWER = `{"answer":["${'x'.repeat(350)}"]}`
