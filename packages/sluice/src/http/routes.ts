import { expected } from '../errors.ts'

/**
 * Finds the template of a path. All spellings that a server may serve alike find the same one: `//x`, `/x/`, `/X`,
 * `/x;a=b`, `%2F` or a backslash for `/`. Of several that fit, the one with the earliest plain segment wins, whatever
 * their order.
 */
export function routeTable(templates: readonly string[]): (target: string) => string | undefined {
  const root = new Segment()
  for (const template of templates) add(root, template)
  return target => find(root, segmentsOf(target.replaceAll('\\', '/')), 0)
}

/** One step of the way: what may follow it, and the template that ends here. */
class Segment {
  readonly plain = new Map<string, Segment>()
  any: Segment | undefined
  /** The template that takes whatever is left. */
  rest: string | undefined
  template: string | undefined
}

function add(root: Segment, template: string): void {
  if (typeof template !== 'string' || !template.startsWith('/')) {
    throw expected('SLUICE_BAD_OPTION', "routes as templates such as '/orders/:id' or '/files/*'", template)
  }
  let segment = root
  for (const part of segmentsOf(template)) {
    if (part === '*') {
      segment.rest ??= template
      return
    }
    segment = part.startsWith(':') ? anyOf(segment) : plainOf(segment, part)
  }
  segment.template ??= template
}

function anyOf(segment: Segment): Segment {
  segment.any ??= new Segment()
  return segment.any
}

function plainOf(segment: Segment, part: string): Segment {
  let next = segment.plain.get(part)
  if (next === undefined) {
    next = new Segment()
    segment.plain.set(part, next)
  }
  return next
}

function find(segment: Segment, parts: readonly string[], index: number): string | undefined {
  if (index === parts.length) return segment.template ?? segment.rest
  const plain = segment.plain.get(parts[index]!)
  return (
    (plain && find(plain, parts, index + 1)) ?? (segment.any && find(segment.any, parts, index + 1)) ?? segment.rest
  )
}

/** A path longer than this is nobody's route. */
const MOST_SEGMENTS = 64

/** The parts of a path as every server would read them: decoded, in lower case, without parameters, dots resolved. */
export function segmentsOf(target: string): string[] {
  const parts: string[] = []
  for (const part of decoded(pathOf(target)).split('/', MOST_SEGMENTS * 2)) {
    const end = part.indexOf(';')
    const name = (end === -1 ? part : part.slice(0, end)).toLowerCase()
    if (name === '..') parts.pop()
    else if (name !== '' && name !== '.') parts.push(name)
  }
  return parts.length > MOST_SEGMENTS ? parts.slice(0, MOST_SEGMENTS + 1) : parts
}

/** One spelling for all those of a path. */
export function canonicalPath(target: string): string {
  return `/${segmentsOf(target).join('/')}`
}

/** Without scheme, host, query and fragment. */
function pathOf(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(SCHEME_AND_HOST, '')
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}

const SCHEME_AND_HOST = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i

function decoded(path: string): string {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
