import { formatMs, parseRate, type RateText } from '../duration.ts'
import { expected } from '../errors.ts'
import { encodeKey } from './key.ts'

/** Rates of one name that all apply: `['2/s', '100/m', '1000/h']`. */
export type Layers = readonly RateText[]

/** A limit whose policy may also be a list of layers. */
interface Layerable {
  readonly policy: unknown
  readonly bucket?: string | undefined
  readonly replaces?: string | undefined
}

export interface SplitLimits<L> {
  /** Each layer as a limit of its own: `user:2/s`, `user:100/m`. */
  readonly limits: Readonly<Record<string, L>>
  /** The layers of each limit that has some, by the limit's name. */
  readonly layers: LayerNames
}

export type LayerNames = ReadonlyMap<string, readonly string[]>

/** Makes each layer a limit of its own. The layers of one limit share everything but their rate. */
export function splitLayers<L extends Layerable>(
  given: Readonly<Record<string, L | (Omit<L, 'policy'> & { policy: Layers })>>,
): SplitLimits<L> {
  const limits = new Map<string, L>()
  const layers = new Map<string, readonly string[]>()
  const add = (name: string, limit: L) => {
    if (limits.has(name)) throw expected('SLUICE_BAD_OPTION', 'names that only one limit or layer has', name)
    limits.set(name, limit)
  }
  for (const [name, limit] of Object.entries(given)) {
    if (!isLayered(limit)) {
      add(name, limit as L)
      continue
    }
    const spans = spansOf(name, limit)
    for (const [i, rate] of limit.policy.entries()) {
      // The bucket is named by the span, so a layer keeps its state when its number changes.
      const bucket = encodeKey(
        ['layer', limit.bucket === undefined ? 'of' : 'bucket', limit.bucket ?? name, spans[i]!],
        name,
      )
      add(layerName(name, rate), { ...(limit as L), policy: rate, bucket })
    }
    layers.set(
      name,
      limit.policy.map(rate => layerName(name, rate)),
    )
  }
  for (const [name, limit] of limits) {
    const replaced = layers.get(Object(limit).replaces)
    if (replaced === undefined) continue
    throw expected('SLUICE_NOT_SUPPORTED', `limit '${name}' to replace one layer (${quoted(replaced)})`, limit.replaces)
  }
  return { limits: Object.fromEntries(limits), layers }
}

/** Whether a policy is a list of rates. */
export function isLayers(policy: unknown): policy is Layers {
  return Array.isArray(policy)
}

export function quoted(names: Iterable<string>): string {
  return Array.from(names, name => `'${name}'`).join(', ')
}

function isLayered<L extends Layerable>(limit: L): limit is L & { readonly policy: Layers } {
  return isLayers(Object(limit).policy)
}

/** The span of each layer. Two layers may not have the same span: the larger would never refuse. */
function spansOf(name: string, { policy, replaces }: Layerable & { readonly policy: Layers }): string[] {
  const where = `limit '${name}'`
  if (policy.length === 0) throw expected('SLUICE_BAD_POLICY', `${where} to have at least one layer`, policy)
  if (replaces !== undefined) {
    const advice = 'give each layer a limit of its own, in place of one layer'
    throw expected('SLUICE_NOT_SUPPORTED', `${where} with layers or replaces`, 'both', advice)
  }
  const spans = policy.map(rate => {
    if (typeof rate === 'string') return formatMs(parseRate(rate, `${where} policy`).periodMs)
    throw expected('SLUICE_BAD_POLICY', `${where} layers as rates such as '100/m'`, rate)
  })
  const again = spans.findIndex((span, i) => spans.indexOf(span) < i)
  if (again < 0) return spans
  throw expected('SLUICE_BAD_POLICY', `${where} to have one layer for each span`, policy[again])
}

function layerName(limit: string, rate: string): string {
  return `${limit}:${rate}`
}
