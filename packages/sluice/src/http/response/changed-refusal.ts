import { expected } from '../../errors.ts'
import { answered } from '../../lookup.ts'
import { PROBLEM_JSON, type Refusal } from './refusal.ts'

/** A refusal as the user's own `refuse` receives and may change it. */
export interface RefusalParts {
  status: number
  headers: Record<string, string>
  /** An object is sent as JSON, a text as `text/plain` unless `Content-Type` is changed, too. */
  body: string | object
}

/** The refusal after the user's changes. Throws if no server could send it. */
export function changed(refusal: Refusal, change: (parts: RefusalParts) => Partial<RefusalParts> | undefined): Refusal {
  const parts = partsOf(refusal)
  const own: unknown = answered(change(parts)) ?? parts
  if (typeof own !== 'object' || own instanceof Promise) {
    throw expected('SLUICE_BAD_OPTION', 'refuse to answer { status?, headers?, body? }', own)
  }
  const { status = parts.status, headers = parts.headers, body = parts.body } = own as Partial<RefusalParts>
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw expected('SLUICE_BAD_OPTION', 'refuse to answer a status from 200 to 599', status)
  }
  const asText = typeof body === 'string' && headers['Content-Type'] === PROBLEM_JSON
  return {
    status,
    fields: fieldsOf(asText ? { ...headers, 'Content-Type': 'text/plain; charset=utf-8' } : headers),
    body: typeof body === 'string' ? body : jsonOf(body),
  }
}

function partsOf({ status, fields, body }: Refusal): RefusalParts {
  const headers: Record<string, string> = {}
  for (let i = 0; i < fields.length; i += 2) headers[fields[i]!] = fields[i + 1]!
  return { status, headers, body: JSON.parse(body) as object }
}

const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

function fieldsOf(headers: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const text = typeof value === 'number' ? String(value) : value
    if (NAME.test(name) && typeof text === 'string' && VALUE.test(text)) return [name, text]
    throw expected('SLUICE_BAD_OPTION', `refuse to answer headers of one line, ${name} among them`, value)
  })
}

function jsonOf(body: unknown): string {
  if (typeof body === 'object' && body !== null) return JSON.stringify(body)
  throw expected('SLUICE_BAD_OPTION', 'refuse to answer a body as a text or an object', body)
}
