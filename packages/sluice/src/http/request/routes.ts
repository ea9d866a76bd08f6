import { expected } from '../../errors.ts'
import { readingsOf } from './path-readings.ts'

/**
 * Finds the template for each reading of a path, the most specific first; undefined stands for a reading that matches
 * none. Nearly every path has one reading. If several templates match a reading, the one whose plain segment comes
 * earliest wins, in whatever order they are listed.
 */
export type RouteTable = (target: string) => readonly (string | undefined)[]

export function routeTable(templates: readonly string[]): RouteTable {
  const root = new RouteNode()
  for (const template of templates) add(root, template)
  return target => {
    const readings = readingsOf(target)
    if (readings.length === 1) return [find(root, readings[0]!, 0)]
    const found = new Set(readings.map(segments => find(root, segments, 0)))
    return [...found].sort((a, b) => vagueness(a) - vagueness(b))
  }
}

/** A template without parameters is the most specific; no template is the least specific. */
function vagueness(template: string | undefined): number {
  if (template === undefined) return 3
  return template.includes('*') ? 2 : template.includes(':') ? 1 : 0
}

/** Decodes a segment of a template, because its author may have written it encoded, `/caf%C3%A9`. */
export function templateSegments(template: string): string[] {
  const segments = template.split('/').filter(part => part !== '')
  return segments.map(part => decoded(part).toLowerCase())
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** A node of the tree of templates: the segments that may follow, and the template that ends here. */
class RouteNode {
  readonly plain = new Map<string, RouteNode>()
  any: RouteNode | undefined
  /** The template that ends in `*` here and so matches any rest. */
  rest: string | undefined
  template: string | undefined
}

function add(root: RouteNode, template: string): void {
  if (typeof template !== 'string' || !template.startsWith('/')) {
    throw expected('SLUICE_BAD_OPTION', "routes as templates such as '/orders/:id' or '/files/*'", template)
  }
  let segment = root
  for (const part of templateSegments(template)) {
    if (part === '*') {
      segment.rest ??= template
      return
    }
    segment = part.startsWith(':') ? anyOf(segment) : plainOf(segment, part)
  }
  segment.template ??= template
}

function anyOf(segment: RouteNode): RouteNode {
  segment.any ??= new RouteNode()
  return segment.any
}

function plainOf(segment: RouteNode, part: string): RouteNode {
  let next = segment.plain.get(part)
  if (next === undefined) {
    next = new RouteNode()
    segment.plain.set(part, next)
  }
  return next
}

function find(segment: RouteNode, parts: readonly string[], index: number): string | undefined {
  if (index === parts.length) return segment.template ?? segment.rest
  const plain = segment.plain.get(parts[index]!)
  return (
    (plain && find(plain, parts, index + 1)) ?? (segment.any && find(segment.any, parts, index + 1)) ?? segment.rest
  )
}
