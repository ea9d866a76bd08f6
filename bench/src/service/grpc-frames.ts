import { http2 } from 'sluice-harness'

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
const OWN_HEADERS = {
  ':path': PATH,
  ':authority': 'ratelimit',
  'content-type': 'application/grpc',
  te: 'trailers',
}
/** `:method: POST` and `:scheme: http` have numbers of their own in HTTP/2. */
const STATIC_HEADERS = [0x83, 0x86]
/** The latest of the headers that a connection remembers has this number, the one before it the next. */
const LATEST_HEADER = 0x80 | 62

/** Headers with the request to remember them: for the first stream of a connection. */
export const FIRST_HEADERS = headers(
  Object.entries(OWN_HEADERS).flatMap(([name, value]) => [0x40, ...literal(name), ...literal(value)]),
)
/** The same headers once they are remembered, as every client sends them from the second stream on. */
export const NEXT_HEADERS = headers(Object.keys(OWN_HEADERS).map((_, i, { length }) => LATEST_HEADER + length - 1 - i))

function headers(own: readonly number[]): Buffer {
  return http2.frame(http2.HEADERS, http2.END_HEADERS, 0, Buffer.from([...STATIC_HEADERS, ...own]))
}

function literal(text: string): number[] {
  return [text.length, ...Buffer.from(text)]
}

/** A whole request body: a descriptor with one entry, in a domain. */
export function body(domain: string, key: string, value: string): Buffer {
  const field = (number: number, content: readonly number[]) => [number * 8 + 2, content.length, ...content]
  const text = (number: number, content: string) => field(number, [...Buffer.from(content)])
  const entry = field(1, [...text(1, key), ...text(2, value)])
  const message = [...text(1, domain), ...field(2, entry)]
  return http2.frame(http2.DATA, http2.END_STREAM, 0, Buffer.from([0, 0, 0, 0, message.length, ...message]))
}
