import { brand } from '../../brand.ts'
import { expected } from '../../errors.ts'
import type { DescriptorEntry } from './tree.ts'

/** What Envoy asks. */
export interface RlsRequest {
  readonly domain: string
  readonly descriptors: readonly RlsDescriptor[]
  /** Of descriptors that do not say their own; 0 is 1. */
  readonly hitsAddend?: number | undefined
}

export interface RlsDescriptor {
  readonly entries: readonly DescriptorEntry[]
  /** In place of the rule there is; `unit` as on the wire, 1 second to 6 year. */
  readonly limit?: { readonly requestsPerUnit: number; readonly unit: number } | undefined
  /** 0 only looks. */
  readonly hitsAddend?: number | undefined
}

/** A request that has no answer: never a status, since Envoy would take one for leave to pass. */
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

/** Envoy sends a handful; each is a limit to be charged. */
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

/** What a descriptor costs: its own hits, or else the request's, of which there is at least one. */
export function hitsOf(descriptor: RlsDescriptor, request: RlsRequest): number {
  const hits = descriptor.hitsAddend ?? Math.max(1, request.hitsAddend ?? 0)
  if (Number.isSafeInteger(hits) && hits >= 0) return hits
  throw invalid('hits_addend as a whole number from 0 to 2^53', hits)
}

export function invalid(what: string, got: unknown): RlsError {
  const { message } = expected('SLUICE_BAD_OPTION', what, got)
  return new RlsError('InvalidArgument', message.slice(0, message.lastIndexOf(' [')))
}
