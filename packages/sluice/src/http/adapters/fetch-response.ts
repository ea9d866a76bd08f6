import { besideOthers, EXPOSE, exposed, type Outcome } from '../guard/outcome.ts'
import { GONE, type Refusal } from '../response/refusal.ts'

/** The refusal as a response. */
export function responseOf(outcome: Outcome, { status, fields, body }: Refusal, method: string): Response {
  const headers = new Headers()
  for (let i = 0; i < fields.length; i += 2) headers.set(fields[i]!, fields[i + 1]!)
  setFields(outcome, headers)
  return new Response(method === 'HEAD' ? null : body, { status, headers })
}

/** Sets the fields on the handler's response. A response that cannot be changed (it came from `fetch`) is copied. */
export function withFields(outcome: Outcome, response: Response): Response {
  try {
    setFields(outcome, response.headers)
    return response
  } catch {
    const copy = new Response(response.body, response)
    setFields(outcome, copy.headers)
    return copy
  }
}

export function setFields(outcome: Outcome, headers: Headers): void {
  const { fields, expose } = besideOthers(outcome, name => headers.get(name))
  for (let i = 0; i < fields.length; i += 2) headers.set(fields[i]!, fields[i + 1]!)
  if (expose !== undefined) headers.set(EXPOSE, exposed(headers.get(EXPOSE), expose))
}

/** Tells the guard when the response has ended: its body was sent or cancelled, or the client has left. */
export async function followResponse(
  { ended }: Outcome,
  request: Request,
  respond: () => Promise<Response>,
): Promise<Response> {
  if (ended === undefined) return respond()
  let sent = { status: GONE.status, bytes: 0 }
  whenAborted(request.signal, () => ended(sent.status, sent.bytes, true))
  let response: Response
  try {
    response = await respond()
  } catch (error) {
    ended(500, 0, false)
    throw error
  }
  const { status, body } = response
  // The server never reads the body of a response to HEAD, so waiting for its end would never finish.
  if (body === null || request.method === 'HEAD') {
    ended(status, 0, false)
    return response
  }
  sent = { status, bytes: 0 }
  return new Response(
    counted(body, sent, aborted => ended(status, sent.bytes, aborted)),
    response,
  )
}

/** Calls back when the client has left; in the next microtask if it left before this call. */
export function whenAborted(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) queueMicrotask(callback)
  signal.addEventListener('abort', callback, { once: true })
  return () => signal.removeEventListener('abort', callback)
}

function counted(
  body: ReadableStream<Uint8Array>,
  sent: { bytes: number },
  end: (aborted: boolean) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) {
          sent.bytes += value.byteLength
          controller.enqueue(value)
          return
        }
        end(false)
        controller.close()
      } catch (error) {
        end(true)
        controller.error(error)
      }
    },
    cancel(reason) {
      end(true)
      return reader.cancel(reason)
    },
  }
  // Reads no chunk before the server asks for it, so that only chunks that were sent are counted.
  return new ReadableStream(source, { highWaterMark: 0 })
}
