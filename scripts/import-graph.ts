import { posix } from 'node:path'
import { importsOf, type Node, reexportsOf } from './syntax.ts'

/** The parsed source of a file of the repository; undefined if there is none. */
export type ProgramOf = (path: string) => Node | undefined

/** The file a relative specifier names. */
export function targetOf(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier)
}

/** The file that declares a name which `path` exports, however many files pass it on. */
export function declaringFile(path: string, name: string, programOf: ProgramOf): string {
  const program = programOf(path)
  const from = program && reexportsOf(program).find(one => one.name === name)
  if (from === undefined || !from.specifier.startsWith('.')) return path
  return declaringFile(targetOf(path, from.specifier), from.importedName, programOf)
}

/** Groups of files that import each other, directly or around a corner; imports of types count. */
export function importCycles(programs: ReadonlyMap<string, Node>): string[][] {
  const imports = new Map(
    [...programs].map(([path, program]) => [
      path,
      importsOf(program).flatMap(({ specifier }) => (specifier?.startsWith('.') ? [targetOf(path, specifier)] : [])),
    ]),
  )
  const reached = new Map([...imports.keys()].map(path => [path, reachableFrom(path, imports)]))
  const cycles = new Map<string, string[]>()
  for (const [path, ahead] of reached) {
    if (!ahead.has(path)) continue
    const group = [...ahead].filter(other => reached.get(other)?.has(path)).toSorted()
    cycles.set(group[0]!, group)
  }
  return [...cycles.values()]
}

function reachableFrom(path: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const seen = new Set<string>()
  const ahead = [...imports.get(path)!]
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    ahead.push(...(imports.get(next) ?? []))
  }
  return seen
}
