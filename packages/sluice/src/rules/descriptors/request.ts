import { brand } from '../../brand.ts'
import { expected } from '../../errors.ts'
import type { DescriptorEntry } from './tree.ts'

/** What Envoy asks. */
export interface RlsRequest {
  readonly domain: string
  readonly descriptors: readonly RlsDescriptor[]
  /** The hits of descriptors that set none; 0 means 1. */
  readonly hitsAddend?: number | undefined
}

export interface RlsDescriptor {
  readonly entries: readonly DescriptorEntry[]
  /** Overrides the matching rule; `unit` as on the wire, from 1 (second) to 6 (year). */
  readonly limit?: { readonly requestsPerUnit: number; readonly unit: number } | undefined
  /** 0 takes nothing. */
  readonly hitsAddend?: number | undefined
}

/** An invalid request. It gets an error and no status, because Envoy would read a status as permission to pass. */
export class RlsError extends Error {
  override readonly name = 'RlsError'
  readonly code = 'SLUICE_BAD_REQUEST'
  readonly kind: 'InvalidArgument' | 'Unavailable'

  constructor(kind: RlsError['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}
brand('RlsError', RlsError)

/** The most descriptors in a request. Envoy sends a few; each is charged to a limit. */
const MOST_DESCRIPTORS = 1000

export function checkRequest(request: RlsRequest): void {
  const { domain, descriptors } = Object(request) as Partial<RlsRequest>
  if (typeof domain !== 'string' || domain === '') throw invalid('a domain that is not empty', domain)
  if (!Array.isArray(descriptors) || descriptors.length === 0) throw invalid('at least one descriptor', descriptors)
  if (descriptors.length > MOST_DESCRIPTORS) throw invalid(`at most ${MOST_DESCRIPTORS} descriptors`, descriptors)
  for (const descriptor of descriptors) {
    const entries: unknown = descriptor?.entries
    if (!Array.isArray(entries) || entries.length === 0) throw invalid('a descriptor with at least one entry', entries)
    if (!entries.every(isEntry)) throw invalid('entries of a key and a value as text', entries)
  }
}

function isEntry(entry: unknown): entry is DescriptorEntry {
  const { key, value } = Object(entry) as Partial<DescriptorEntry>
  return typeof key === 'string' && typeof value === 'string'
}

/** The cost of a descriptor: its own hits, or the request's, at least 1. */
export function hitsOf(descriptor: RlsDescriptor, request: RlsRequest): number {
  const hits = descriptor.hitsAddend ?? Math.max(1, request.hitsAddend ?? 0)
  if (Number.isSafeInteger(hits) && hits >= 0) return hits
  throw invalid('hits_addend as a whole number from 0 to 2^53', hits)
}

export function invalid(what: string, got: unknown): RlsError {
  const { message } = expected('SLUICE_BAD_OPTION', what, got)
  return new RlsError('InvalidArgument', message.slice(0, message.lastIndexOf(' [')))
}
