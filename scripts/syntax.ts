import { parseAst } from 'vite'

/** A syntax node as seen from outside: TypeScript 7 has no compiler API, so Vite's parser stands in. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly [field: string]: unknown
}

export interface Import {
  /** `null` where it is computed and so cannot be checked. */
  readonly specifier: string | null
  readonly typeOnly: boolean
  readonly start: number
}

type Visit = (node: Node, parent: Node | null, field: string) => void

export function parse(path: string, source: string): Node {
  const lang = /\.[cm]?([jt]sx?)$/.exec(path)?.[1] as 'js' | 'jsx' | 'ts' | 'tsx' | undefined
  return parseAst(source, { lang: lang ?? 'ts' }, path) as unknown as Node
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

export function walk(node: Node, visit: Visit, parent: Node | null = null, field = ''): void {
  visit(node, parent, field)
  for (const [name, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit, node, name)
  }
}

/**
 * Static and dynamic imports, re-exports and `import('…')` types. `import { type A }` is not type-only: with
 * verbatimModuleSyntax it is emitted as `import {}` and loads the module.
 */
export function importsOf(program: Node): Import[] {
  const found: Import[] = []
  walk(program, node => {
    const { type, source, start } = node
    if (type !== 'ImportExpression' && !isImportOrReexport(node)) return
    const typeOnly = type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type'
    const specifier = isNode(source) && typeof source.value === 'string' ? source.value : null
    found.push({ specifier, typeOnly, start })
  })
  return found
}

export function isReexport(node: Node): boolean {
  return (node.type === 'ExportNamedDeclaration' || node.type === 'ExportAllDeclaration') && isNode(node.source)
}

function isImportOrReexport(node: Node): boolean {
  return node.type === 'ImportDeclaration' || node.type === 'TSImportType' || isReexport(node)
}
