import type { Path } from 'sluice/rules'
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml'
import { type Problem, RulesFileError } from './problems.ts'
import type { Source } from './sources.ts'

/** A YAML file: what it says, and where it says it. */
export interface YamlFile {
  readonly name: string
  readonly value: unknown
  /** The place of what a path leads to, or of its name; of what is left out, the place that leaves it out. */
  positionOf(path: Path, inName: boolean): { line: number; column: number }
}

/** Enough to write rules with; more would be a file that unfolds to fill the memory. */
const MOST_ALIASES = 1000

/**
 * Reads YAML 1.2, and the merge keys of 1.1 that rules files use. `isText` names the keys whose values are text however
 * they look: `value: 1.0` is not the number 1.
 */
export function parseYaml({ name, text }: Source, isText: (key: string) => boolean): YamlFile {
  const lines = new LineCounter()
  const problemAt = (offset: number, message: string): Problem => {
    const { line, col } = lines.linePos(offset)
    return { file: name, line, column: col, code: 'SLUICE_BAD_RULES', message }
  }
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true })
    const problems = [...document.errors, ...document.warnings].map(error =>
      problemAt(error.pos[0], complaintOf(error, text)),
    )
    for (const { range, source } of strayAliases(document)) {
      problems.push(problemAt(range?.[0] ?? 0, `expected an alias of an anchor above it, got *${source}`))
    }
    if (problems.length > 0) throw new RulesFileError(problems)
    keepSpelling(document, isText)
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES })
    const positionOf: YamlFile['positionOf'] = (path, inName) => {
      const { line, col } = lines.linePos(offsetOf(document, path, inName))
      return { line, column: col }
    }
    return { name, value, positionOf }
  } catch (error) {
    if (error instanceof RulesFileError) throw error
    // The parser gives up on what is nested too deep or unfolds too far.
    throw new RulesFileError([problemAt(0, `expected YAML that can be unfolded, got: ${(error as Error).message}`)])
  }
}

function complaintOf({ code, message, pos }: YAMLError, text: string): string {
  if (code === 'DUPLICATE_KEY') return `expected each name once, got ${/^[^:\n]*/.exec(text.slice(pos[0]))} again`
  return code === 'MULTIPLE_DOCS' ? 'expected one document, got another' : `expected YAML, got: ${message}`
}

function strayAliases(document: Document): Alias[] {
  const stray: Alias[] = []
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) === undefined) stray.push(alias)
    },
  })
  return stray
}

function keepSpelling(document: Document, isText: (key: string) => boolean): void {
  visit(document, {
    Pair(_, { key, value }) {
      if (!isText(keyText(key)) || value === null) return
      visit(value as Node, {
        Scalar(_, scalar) {
          if (scalar.value !== null && scalar.source !== undefined) scalar.value = scalar.source
        },
      })
    },
  })
}

/** A map or a list is pointed at by its name: what is in it starts on some other line. */
function offsetOf(document: Document, path: Path, inName: boolean): number {
  let node: unknown = document.contents
  let offset = startOf(node) ?? 0
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document)
    const pair = isMap(node) ? node.items.find(({ key }) => keyText(key) === String(step)) : undefined
    const next: unknown = pair === undefined ? isSeq(node) && node.items[step as number] : pair.value
    // What is left out is missing from here.
    if (next === undefined || next === false) return offset
    offset = startOf(pair === undefined ? next : pair.key) ?? offset
    node = next
  }
  return inName || isMap(node) || isSeq(node) ? offset : (startOf(node) ?? offset)
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0]
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value ?? '') : String(key)
}
