import { shown } from '../shown.ts'
import { GrpcError } from './grpc/grpc-status.ts'
import { MOST_DESCRIPTORS, MOST_ENTRIES, tooMany, wellFormed } from './request-bounds.ts'
import { type Descriptor, type Override, type RateLimitRequest, UNITS, type WireEntry } from './service.ts'

const MOST_UINT32 = 0xffff_ffff
const MOST_UINT64 = 2n ** 64n - 1n

/**
 * A RateLimitRequest in proto3's JSON. A field may be written `hitsAddend` or `hits_addend`; null means absent. An unknown
 * field is an error, as in protobuf's own parsers: ignoring it would silently change the request.
 */
export function requestFromJson(text: string): RateLimitRequest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new GrpcError('INVALID_ARGUMENT', 'expected JSON')
  }
  const { domain, descriptors, hitsAddend } = fieldsOf(value, 'the request', ['domain', 'descriptors', 'hitsAddend'])
  const list = listOf(descriptors, 'descriptors')
  if (list.length > MOST_DESCRIPTORS) throw tooMany('descriptors', MOST_DESCRIPTORS)
  return wellFormed({
    domain: textOf(domain, 'domain'),
    descriptors: list.map((descriptor, i) => descriptorOf(descriptor, `descriptors[${i}]`)),
    hitsAddend: integerOf(hitsAddend, 'hitsAddend', MOST_UINT32),
  })
}

function descriptorOf(value: unknown, where: string): Descriptor {
  const { entries, limit, hitsAddend } = fieldsOf(value, where, ['entries', 'limit', 'hitsAddend'])
  const list = listOf(entries, `${where}.entries`)
  if (list.length > MOST_ENTRIES) throw tooMany('entries in a descriptor', MOST_ENTRIES)
  return {
    entries: list.map((entry, i) => entryOf(entry, `${where}.entries[${i}]`)),
    limit: limit === undefined ? undefined : overrideOf(limit, `${where}.limit`),
    hitsAddend: hitsAddend === undefined ? undefined : integerOf(hitsAddend, `${where}.hitsAddend`, MOST_UINT64),
  }
}

function entryOf(value: unknown, where: string): WireEntry {
  const entry = fieldsOf(value, where, ['key', 'value'])
  return { key: textOf(entry.key, `${where}.key`), value: textOf(entry.value, `${where}.value`) }
}

function overrideOf(value: unknown, where: string): Override {
  const { requestsPerUnit, unit } = fieldsOf(value, where, ['requestsPerUnit', 'unit'])
  return {
    requestsPerUnit: integerOf(requestsPerUnit, `${where}.requestsPerUnit`, MOST_UINT32),
    unit: unitOf(unit, `${where}.unit`),
  }
}

/** The fields by the first of their two names. A null or missing field is undefined. */
function fieldsOf<Name extends string>(value: unknown, where: string, names: readonly Name[]) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad(where, 'an object', value)
  const fields: Partial<Record<Name, unknown>> = {}
  for (const [given, field] of Object.entries(value)) {
    const name = names.find(known => known === given || snakeCase(known) === given)
    if (name === undefined) throw bad(where, `no fields but ${names.join(', ')}`, given)
    if (Object.hasOwn(fields, name)) throw bad(where, `${name} once`, given)
    fields[name] = field ?? undefined
  }
  return fields
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, capital => `_${capital.toLowerCase()}`)
}

function listOf(value: unknown, where: string): readonly unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw bad(where, 'an array', value)
  return value
}

function textOf(value: unknown, where: string): string {
  if (value === undefined) return ''
  // Half of a surrogate pair is no character, and has no bytes in UTF-8.
  if (typeof value !== 'string' || /\p{Surrogate}/u.test(value)) throw bad(where, 'a string of Unicode', value)
  return value
}

/** Numbers may be strings, as JSON requires for 64 bits. A number too large for a cost becomes the largest cost. */
function integerOf(value: unknown, where: string, most: number | bigint): number {
  if (value === undefined) return 0
  const isInteger = typeof value === 'string' ? /^\d{1,20}$/.test(value) : Number.isInteger(value)
  const integer = isInteger ? BigInt(value as string | number) : -1n
  if (integer < 0n || integer > most) throw bad(where, `an integer from 0 to ${most}`, value)
  return integer > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(integer)
}

function unitOf(value: unknown, where: string): number {
  if (value === undefined) return 0
  const unit = typeof value === 'string' ? UNITS.indexOf(value as (typeof UNITS)[number]) : value
  if (typeof unit !== 'number' || UNITS[unit] === undefined) throw bad(where, `one of ${UNITS.join(', ')}`, value)
  return unit
}

function bad(where: string, what: string, got: unknown): GrpcError {
  return new GrpcError('INVALID_ARGUMENT', `${where}: expected ${what}, got ${shown(got)}`)
}
