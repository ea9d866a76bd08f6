import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { clockReads } from './clock-reads.ts'
import { declaringFile, type ProgramOf, targetOf } from './import-graph.ts'
import type { Import, Node } from './syntax.ts'
import { importsOf, isReexport, parse, reexportsOf } from './syntax.ts'

const LIBRARY = 'packages/sluice/src/'

/** The contract between limiter and stores. */
const STORE_CONTRACT = ['stores/store.ts', 'stores/charge.ts', 'stores/limit.ts', 'stores/inspection.ts']

/**
 * Which rooms of the library may import which others. A room is a folder with its own row. A folder without a row
 * belongs to the room around it, and `basics` are the files directly in `src`, without `index.ts`. Each file may import
 * from its own room. A grant is the name of a room, a folder with all below it (ends with `/`), or a file. `type`
 * before it allows only `import type`. The file that declares a name counts, not one that re-exports it.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  index: [
    'limiter/',
    ...STORE_CONTRACT,
    'stores/kernels.ts',
    'stores/store-time.ts',
    'stores/memory/',
    'stores/remote/remote-store.ts',
    'algorithms/rule.ts',
    'basics',
  ],
  basics: [],
  algorithms: ['basics'],
  stores: ['algorithms/', 'basics'],
  'stores/memory': ['stores', 'algorithms/', 'basics'],
  'stores/remote': ['stores', 'algorithms/', 'basics'],
  'stores/redis': ['stores', 'stores/remote/', 'algorithms/', 'basics'],
  limiter: [
    ...STORE_CONTRACT,
    'stores/coordinator.ts',
    'stores/memory/memory-store.ts',
    'algorithms/rule.ts',
    'basics',
  ],
  rules: ['limiter/', 'basics'],
  http: ['http/', 'limiter/', 'basics'],
  'http/adapters': ['http/guard/', 'http/request/', 'http/response/', 'basics'],
  'http/address': ['basics'],
  'http/guard': ['http/address/', 'http/request/', 'http/response/', 'limiter/', 'basics'],
  'http/login': ['http/guard/', 'http/request/', 'basics'],
  'http/request': ['http/address/', 'limiter/', 'basics'],
  'http/response': ['http/guard/guard-limit.ts', 'http/guard/delay.ts', 'http/request/', 'limiter/', 'basics'],
  compat: [...STORE_CONTRACT, 'stores/memory/memory-store.ts', 'stores/redis/', 'limiter/', 'http/address/', 'basics'],
  client: ['limiter/', 'http/response/headers.ts', 'http/response/headers/', 'basics'],
  overload: ['limiter/', 'type http/guard/', 'basics'],
  telemetry: ['type limiter/', 'type http/guard/', 'basics'],
  testing: ['index', 'limiter/', 'stores/', 'algorithms/', 'rules/', 'overload/', 'telemetry/', 'testing/', 'basics'],
  'testing/oracle': ['testing', 'basics'],
}

/** Each pattern names the members of a family by its first group; members of one family do not import each other. */
export const SIBLINGS: readonly RegExp[] = [
  /^stores\/remote\/(deny-cache|resilient|leased)\.ts$/,
  /^http\/(express|fastify|hono|koa|nest|fetch|node)\.ts$/,
]

/** The only names of the library that the server, the studio, benchmarks and examples may import. */
export const ENTRY_POINTS: readonly string[] = [
  ...['sluice', 'sluice/redis', 'sluice/rules', 'sluice/http', 'sluice/express', 'sluice/fastify', 'sluice/hono'],
  ...['sluice/koa', 'sluice/nest', 'sluice/fetch', 'sluice/node', 'sluice/client', 'sluice/overload'],
  ...['sluice/telemetry', 'sluice/testing', 'sluice/compat/express-rate-limit', 'sluice/compat/fastify-rate-limit'],
  'sluice/compat/rate-limiter-flexible',
]

/** Optional peers that a library file loads at run time. Nest tells a refusal from a fault by the class of its exception. */
const LOADED_PEERS: Readonly<Record<string, readonly string[]>> = {
  'http/nest.ts': ['@nestjs/common', '@nestjs/core', '@nestjs/websockets'],
}

/**
 * Every breach of the tables in one source file, as `path:line what is wrong`. `path` is relative to the repository. Other
 * files are looked into for names they pass on.
 */
export function breaches(path: string, source: string, programOf: ProgramOf): string[] {
  const program = parse(path, source)
  const isLibrary = path.startsWith(LIBRARY)
  const found: { message: string; start: number }[] = []
  for (const imported of importsOf(program)) {
    const messages = isLibrary ? libraryImport(path, imported, programOf) : outsideImport(path, imported)
    found.push(...messages.map(message => ({ message, start: imported.start })))
  }
  if (isLibrary) found.push(...wholeReexports(program))
  if (path === `${LIBRARY}index.ts`) found.push(...moreThanNames(program))
  if (isLibrary && path !== `${LIBRARY}clock.ts`) {
    for (const { what, start } of clockReads(program))
      found.push({ message: `${what} belongs in clock.ts only`, start })
  }
  return found.map(({ message, start }) => `${path}:${source.slice(0, start).split('\n').length} ${message}`)
}

function libraryImport(path: string, imported: Import, programOf: ProgramOf): string[] {
  const { specifier, typeOnly, names } = imported
  if (specifier === null) return ['a computed import cannot be checked']
  const from = path.slice(LIBRARY.length)
  if (!specifier.startsWith('.')) return packageImport(from, specifier, typeOnly)
  const target = targetOf(path, specifier)
  if (!target.startsWith(LIBRARY)) return [`${specifier} is outside the library`]
  const to = target.slice(LIBRARY.length)
  const message = roomImport(from, to, typeOnly)
  if (message !== null) return [message]
  const taken = names.includes('*') ? passedOnBy(target, programOf) : names
  return taken.flatMap(name => {
    const declaredIn = declaringFile(target, name, programOf)
    const carried = declaredIn === target ? null : roomImport(from, declaredIn.slice(LIBRARY.length), typeOnly)
    return carried === null ? [] : [`${carried}, and ${to} passes on its ${name}`]
  })
}

/** The names that a namespace import takes although its target does not declare them. */
function passedOnBy(target: string, programOf: ProgramOf): string[] {
  const program = programOf(target)
  return program === undefined ? [] : reexportsOf(program).map(({ name }) => name)
}

function roomImport(from: string, to: string, typeOnly: boolean): string | null {
  if (SIBLINGS.some(family => areSiblings(family, from, to))) return `${from} may not import its sibling ${to}`
  const room = roomOf(from)
  if (room === roomOf(to)) return null
  const allowed = MAY_IMPORT[room]
  if (allowed === undefined) return `${room}/ is not in the table of who may import whom`
  if (allowed.some(grant => covers(grant, to))) return null
  if (!allowed.some(grant => grant.startsWith('type ') && covers(grant.slice('type '.length), to))) {
    return `${room} may not import ${to}`
  }
  return typeOnly ? null : `${room} may import ${to} with \`import type\` only`
}

function packageImport(from: string, specifier: string, typeOnly: boolean): string[] {
  if (isBuiltin(specifier) && !(typeOnly && from === 'http/node.ts'))
    return [`${specifier} does not exist in browsers and workers`]
  if (/^sluice(\/|$)/.test(specifier)) return ['the library imports its own files by relative path']
  if (typeOnly || LOADED_PEERS[from]?.includes(specifier)) return []
  return [`${specifier} may be imported with \`import type\` only: the library has no dependencies`]
}

function outsideImport(path: string, { specifier }: Import): string[] {
  if (specifier === null) return []
  const root = /^(?:(?:packages|apps)\/)?[^/]+\//.exec(path)?.[0] ?? ''
  if (specifier.startsWith('.')) {
    const isInside = targetOf(path, specifier).startsWith(root)
    return isInside ? [] : [`${specifier} reaches out of ${root}: import a public entry point`]
  }
  if (/^sluice\//.test(specifier) && !ENTRY_POINTS.includes(specifier))
    return [`${specifier} is not a public entry point`]
  if (path.startsWith('apps/studio/src/') && isBuiltin(specifier)) return [`${specifier} does not exist in browsers`]
  return []
}

function wholeReexports(program: Node): { message: string; start: number }[] {
  return (program.body as Node[])
    .filter(node => node.type === 'ExportAllDeclaration')
    .map(({ start }) => ({ message: '`export *` hides what it passes on: name it', start }))
}

function moreThanNames(program: Node): { message: string; start: number }[] {
  const named = (node: Node) => isReexport(node) && node.type === 'ExportNamedDeclaration'
  return (program.body as Node[])
    .filter(node => !named(node) && node.type !== 'ExportAllDeclaration')
    .map(({ start }) => ({ message: "index.ts holds nothing but `export { names } from './file.ts'`", start }))
}

/** The innermost folder around a file that has a row in the table, else the outermost. */
function roomOf(file: string): string {
  if (file === 'index.ts') return 'index'
  if (!file.includes('/')) return 'basics'
  let folder = posix.dirname(file)
  while (!(folder in MAY_IMPORT) && folder.includes('/')) folder = posix.dirname(folder)
  return folder
}

function covers(grant: string, file: string): boolean {
  return grant.endsWith('/') ? file.startsWith(grant) : grant === file || grant === roomOf(file)
}

function areSiblings(family: RegExp, a: string, b: string): boolean {
  const [first, second] = [family.exec(a)?.[1], family.exec(b)?.[1]]
  return first !== undefined && second !== undefined && first !== second
}
