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
  type Pair,
  parseDocument,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import { type Problem, RulesFileError } from './problems.ts'
import type { SourceFile } from './source-files.ts'

/** A YAML file: its values and their positions. */
export interface YamlFile {
  readonly name: string
  readonly value: unknown
  /** The position of the value at a path, or of its name. If it is missing, the position of the map that lacks it. */
  positionOf(path: Path, inName: boolean): { line: number; column: number }
}

/** Enough for real rules. Without a bound, aliases in aliases could fill the memory. */
const MOST_ALIASES = 1000

/**
 * Reads YAML 1.2, with the merge keys of 1.1 that rules files use. `isText` names the keys whose values are always text:
 * `value: 1.0` is not the number 1.
 */
export function parseYaml({ name, text }: SourceFile, isText: (key: string) => boolean): YamlFile {
  const lines = new LineCounter()
  const problemAt = (offset: number, message: string): Problem => {
    const { line, col } = lines.linePos(offset)
    return { file: name, line, column: col, code: 'SLUICE_BAD_RULES', message }
  }
  try {
    // The parser compares each name of a map with all before it, and each alias with all anchors: a file of 100,000 limits
    // would take minutes. Both are checked below, in one pass.
    const options = { lineCounter: lines, prettyErrors: false, merge: true, uniqueKeys: false }
    const document = parseDocument(text, options)
    const problems = [...document.errors, ...document.warnings].map(error =>
      problemAt(error.pos[0], complaintOf(error)),
    )
    for (const key of repeatedKeys(document)) {
      problems.push(problemAt(startOf(key) ?? 0, `expected each name once, got ${keyText(key)} again`))
    }
    for (const { range, source } of strayAliases(document)) {
      problems.push(problemAt(range?.[0] ?? 0, `expected an alias of an anchor above it, got *${source}`))
    }
    if (problems.length > 0) throw new RulesFileError(problems)
    keepSpelling(document, isText)
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES })
    const places = new YamlPositions(document)
    const positionOf: YamlFile['positionOf'] = (path, inName) => {
      const { line, col } = lines.linePos(places.offsetOf(path, inName))
      return { line, column: col }
    }
    return { name, value, positionOf }
  } catch (error) {
    if (error instanceof RulesFileError) throw error
    // The parser throws if the file is nested too deeply or its aliases expand too far.
    throw new RulesFileError([problemAt(0, `expected YAML that can be unfolded, got: ${(error as Error).message}`)])
  }
}

function complaintOf({ code, message }: YAMLError): string {
  return code === 'MULTIPLE_DOCS' ? 'expected one document, got another' : `expected YAML, got: ${message}`
}

/** The names that appear in their map a second time. */
function repeatedKeys(document: Document): Node[] {
  const repeated: Node[] = []
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key
        if (seen.has(name)) repeated.push(key as Node)
        seen.add(name)
      }
    },
  })
  return repeated
}

/** An alias stands for the last anchor of its name above it. */
function strayAliases(document: Document): Alias[] {
  const anchors = new Set<string>()
  const stray: Alias[] = []
  visit(document, {
    Alias(_, alias) {
      if (!anchors.has(alias.source)) stray.push(alias)
    },
    Value(_, { anchor }) {
      if (anchor !== undefined) anchors.add(anchor)
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

/** Finds the node at a path. It indexes the names of a map once, since a file may have an error in each of its limits. */
class YamlPositions {
  private readonly document: Document
  private readonly pairs = new Map<unknown, Map<string, Pair>>()

  constructor(document: Document) {
    this.document = document
  }

  /** The position of a map or a list is that of its name, since its content starts on another line. */
  offsetOf(path: Path, inName: boolean): number {
    let node: unknown = this.document.contents
    let offset = startOf(node) ?? 0
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(this.document)
      const pair = isMap(node) ? this.pairsOf(node).get(String(step)) : undefined
      const next: unknown = pair === undefined ? isSeq(node) && node.items[step as number] : pair.value
      // The missing value belongs into this map.
      if (next === undefined || next === false) return offset
      offset = startOf(pair === undefined ? next : pair.key) ?? offset
      node = next
    }
    return inName || isMap(node) || isSeq(node) ? offset : (startOf(node) ?? offset)
  }

  private pairsOf(map: YAMLMap): Map<string, Pair> {
    const known = this.pairs.get(map)
    if (known !== undefined) return known
    const pairs = new Map(map.items.map(pair => [keyText(pair.key), pair]))
    this.pairs.set(map, pairs)
    return pairs
  }
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0]
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value ?? '') : String(key)
}
