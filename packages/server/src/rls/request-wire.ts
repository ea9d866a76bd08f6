import { ProtobufReader } from './protobuf-reader.ts'
import { MOST_DESCRIPTORS, MOST_ENTRIES, tooMany, wellFormed } from './request-bounds.ts'
import type { Descriptor, Override, RateLimitRequest, WireEntry } from './service.ts'

// Tags: the field's number times 8, plus 2 for a value with a length and 0 for a number. A field of the wrong type has
// another tag, so it is skipped like an unknown field.

/** An envoy.service.ratelimit.v3.RateLimitRequest. */
export function decodeRequest(bytes: Buffer): RateLimitRequest {
  const reader = new ProtobufReader(bytes)
  let domain = ''
  let descriptors: Descriptor[] | undefined
  let hitsAddend = 0
  while (!reader.isAtEnd) {
    const tag = reader.tag()
    if (tag === 0o12) domain = reader.string()
    else if (tag === 0o22) {
      if (descriptors?.length === MOST_DESCRIPTORS) throw tooMany('descriptors', MOST_DESCRIPTORS)
      descriptors = added(descriptors, descriptorOf(reader))
    } else if (tag === 0o30) hitsAddend = reader.uint32()
    else reader.skip(tag)
  }
  return wellFormed({ domain, descriptors: descriptors ?? [], hitsAddend })
}

/** An envoy.extensions.common.ratelimit.v3.RateLimitDescriptor. */
function descriptorOf(reader: ProtobufReader): Descriptor {
  const outer = reader.enter()
  let entries: WireEntry[] | undefined
  let limit: Override | undefined
  let hitsAddend: number | undefined
  while (!reader.isAtEnd) {
    const tag = reader.tag()
    if (tag === 0o12) {
      if (entries?.length === MOST_ENTRIES) throw tooMany('entries in a descriptor', MOST_ENTRIES)
      entries = added(entries, entryOf(reader))
    } else if (tag === 0o22) limit = overrideOf(reader, limit)
    else if (tag === 0o32) hitsAddend = wrappedOf(reader, hitsAddend)
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { entries: entries ?? [], limit, hitsAddend }
}

/** Starts the list with its first item: mostly there is only one, and pushing to an empty array makes room for seventeen. */
function added<T>(list: T[] | undefined, item: T): T[] {
  if (list === undefined) return [item]
  list.push(item)
  return list
}

function entryOf(reader: ProtobufReader): WireEntry {
  const outer = reader.enter()
  let key = ''
  let value = ''
  while (!reader.isAtEnd) {
    const tag = reader.tag()
    if (tag === 0o12) key = reader.string()
    else if (tag === 0o22) value = reader.string()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { key, value }
}

/** A message that appears twice is merged: a field that the second lacks keeps the value of the first. */
function overrideOf(reader: ProtobufReader, before: Override | undefined): Override {
  const outer = reader.enter()
  let requestsPerUnit = before?.requestsPerUnit ?? 0
  let unit = before?.unit ?? 0
  while (!reader.isAtEnd) {
    const tag = reader.tag()
    if (tag === 0o10) requestsPerUnit = reader.uint32()
    else if (tag === 0o20) unit = reader.uint32() | 0
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { requestsPerUnit, unit }
}

/** A google.protobuf.UInt64Value. If it is present without a value, it means 0. */
function wrappedOf(reader: ProtobufReader, before: number | undefined): number {
  const outer = reader.enter()
  let value = before ?? 0
  while (!reader.isAtEnd) {
    const tag = reader.tag()
    if (tag === 0o10) value = reader.uint64()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return value
}
