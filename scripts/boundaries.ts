import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { clockReads } from './clock-reads.ts'
import type { Import, Node } from './syntax.ts'
import { importsOf, isReexport, parse } from './syntax.ts'

const LIBRARY = 'packages/sluice/src/'

/**
 * Who may import whom inside the library, beside its own area. A target is `basics` (the files directly in src), a
 * directory or a file; `type` before it means `import type` only.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  index: [
    'basics',
    'algorithms/',
    'stores/store.ts',
    'stores/charge.ts',
    'stores/remote/remote-store.ts',
    'stores/memory/',
    'limiter/',
  ],
  basics: [],
  algorithms: ['basics'],
  stores: ['algorithms/', 'basics'],
  limiter: ['stores/store.ts', 'stores/charge.ts', 'stores/coordinator.ts', 'stores/memory/', 'basics'],
  rules: ['limiter/', 'basics'],
  http: ['limiter/', 'basics'],
  client: ['limiter/', 'basics'],
  overload: ['type limiter/', 'basics'],
  telemetry: ['type limiter/', 'basics'],
  testing: ['index', 'basics', 'algorithms/', 'stores/', 'limiter/', 'rules/', 'overload/', 'telemetry/'],
}

/** Each pattern names the members of a family by its first group; members of one family do not import each other. */
export const SIBLINGS: readonly RegExp[] = [
  /^stores\/(memory|redis)\//,
  /^stores\/remote\/(deny-cache|resilient|leased)\.ts$/,
  /^http\/(express|fastify|hono|koa|nest|fetch|node)\b/,
]

/** What the table would let through, and why it must not. */
export const NEVER: readonly { from: RegExp; to: RegExp; because: string }[] = [
  { from: /^stores\/remote\//, to: SIBLINGS[0]!, because: 'a wrapper takes any Store' },
  { from: /^testing\/oracle\b/, to: /^(algorithms|stores)\//, because: 'the oracle shares no code with the kernels' },
]

/** The only names of the library that the server, the studio, benchmarks and examples may import. */
export const ENTRY_POINTS: readonly string[] = [
  ...['sluice', 'sluice/redis', 'sluice/rules', 'sluice/http', 'sluice/express', 'sluice/fastify', 'sluice/hono'],
  ...['sluice/koa', 'sluice/nest', 'sluice/fetch', 'sluice/node', 'sluice/client', 'sluice/overload'],
  ...['sluice/telemetry', 'sluice/testing'],
]

/** Optional peers that a library file really loads, by file. Nest tells a refusal from a fault by the class of its exception. */
const LOADED_PEERS: Readonly<Record<string, readonly string[]>> = { 'http/nest.ts': ['@nestjs/common'] }

/** Every breach of the tables in one source file, as `path:line what is wrong`. `path` is relative to the repository. */
export function breaches(path: string, source: string): string[] {
  const program = parse(path, source)
  const found: { message: string; start: number }[] = []
  for (const imported of importsOf(program)) {
    const message = path.startsWith(LIBRARY) ? libraryImport(path, imported) : outsideImport(path, imported)
    if (message !== null) found.push({ message, start: imported.start })
  }
  if (path === `${LIBRARY}index.ts`) found.push(...moreThanNames(program))
  if (path.startsWith(LIBRARY) && path !== `${LIBRARY}clock.ts`) {
    for (const { what, start } of clockReads(program))
      found.push({ message: `${what} belongs in clock.ts only`, start })
  }
  return found.map(({ message, start }) => `${path}:${source.slice(0, start).split('\n').length} ${message}`)
}

function libraryImport(path: string, { specifier, typeOnly }: Import): string | null {
  if (specifier === null) return 'a computed import cannot be checked'
  const from = path.slice(LIBRARY.length)
  if (!specifier.startsWith('.')) return libraryPackage(from, specifier, typeOnly)
  const target = posix.join(posix.dirname(path), specifier)
  if (!target.startsWith(LIBRARY)) return `${specifier} is outside the library`
  const to = target.slice(LIBRARY.length)

  const never = NEVER.find(rule => rule.from.test(from) && rule.to.test(to))
  if (never !== undefined) return `${from} may not import ${to}: ${never.because}`
  if (SIBLINGS.some(family => areSiblings(family, from, to))) return `${from} may not import its sibling ${to}`
  const area = areaOf(from)
  if (area === areaOf(to)) return null
  const allowed = MAY_IMPORT[area]
  if (allowed === undefined) return `${area}/ is not in the table of who may import whom`
  if (allowed.some(grant => covers(grant, to))) return null
  if (!allowed.some(grant => grant.startsWith('type ') && covers(grant.slice('type '.length), to))) {
    return `${area} may not import ${to}`
  }
  return typeOnly ? null : `${area} may import ${to} with \`import type\` only`
}

function libraryPackage(from: string, specifier: string, typeOnly: boolean): string | null {
  if (isBuiltin(specifier)) return `${specifier} does not exist in browsers and workers`
  if (/^sluice(\/|$)/.test(specifier)) return 'the library imports its own files by relative path'
  if (typeOnly || LOADED_PEERS[from]?.includes(specifier)) return null
  return `${specifier} may be imported with \`import type\` only: the library has no dependencies`
}

function outsideImport(path: string, { specifier }: Import): string | null {
  if (specifier === null) return null
  const root = /^(?:(?:packages|apps)\/)?[^/]+\//.exec(path)?.[0] ?? ''
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier)
    return target.startsWith(root) ? null : `${specifier} reaches out of ${root}: import a public entry point`
  }
  if (/^sluice\//.test(specifier) && !ENTRY_POINTS.includes(specifier))
    return `${specifier} is not a public entry point`
  if (path.startsWith('apps/studio/src/') && isBuiltin(specifier)) return `${specifier} does not exist in browsers`
  return null
}

function moreThanNames(program: Node): { message: string; start: number }[] {
  const named = (node: Node) => isReexport(node) && node.type === 'ExportNamedDeclaration'
  return (program.body as Node[])
    .filter(node => !named(node))
    .map(({ start }) => ({ message: "index.ts holds nothing but `export { names } from './file.ts'`", start }))
}

function areaOf(file: string): string {
  if (file === 'index.ts') return 'index'
  const slash = file.indexOf('/')
  return slash === -1 ? 'basics' : file.slice(0, slash)
}

function covers(grant: string, file: string): boolean {
  return grant.endsWith('/') ? file.startsWith(grant) : grant === file || grant === areaOf(file)
}

function areSiblings(family: RegExp, a: string, b: string): boolean {
  const [first, second] = [family.exec(a)?.[1], family.exec(b)?.[1]]
  return first !== undefined && second !== undefined && first !== second
}
