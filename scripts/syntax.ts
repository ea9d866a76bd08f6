import { parseAst } from 'vite'

/** A syntax node. TypeScript 7 has no compiler API, so Vite's parser reads the sources. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly [field: string]: unknown
}

export interface Import {
  /** `null` if it is computed: then it cannot be checked. */
  readonly specifier: string | null
  readonly typeOnly: boolean
  /** The imported names as the imported file spells them; `'*'` for all. */
  readonly names: readonly string[]
  readonly start: number
}

/** A name that a file exports without declaring it. */
export interface Reexport {
  /** `'*'` for `export * from`. */
  readonly name: string
  readonly specifier: string
  readonly importedName: string
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
 * verbatimModuleSyntax TypeScript emits it as `import {}`, which loads the module.
 */
export function importsOf(program: Node): Import[] {
  const found: Import[] = []
  walk(program, node => {
    const { type, source, start } = node
    if (type !== 'ImportExpression' && !isImportOrReexport(node)) return
    const typeOnly = type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type'
    const specifier = isNode(source) && typeof source.value === 'string' ? source.value : null
    found.push({ specifier, typeOnly, names: namesTaken(node), start })
  })
  return found
}

/** Every name that the file passes on from another: `export … from`, and an import that is exported. */
export function reexportsOf(program: Node): Reexport[] {
  const body = program.body as readonly Node[]
  const imported = new Map<string, Reexport>()
  for (const node of body) {
    if (node.type !== 'ImportDeclaration') continue
    for (const one of node.specifiers as readonly Node[]) {
      const name = text(one.local)!
      imported.set(name, {
        name,
        specifier: text(node.source)!,
        importedName: text(one.imported) ?? importedWhole(one),
      })
    }
  }
  return body.flatMap(node => {
    if (node.type === 'ExportAllDeclaration') {
      return [{ name: text(node.exported) ?? '*', specifier: text(node.source)!, importedName: '*' }]
    }
    if (node.type !== 'ExportNamedDeclaration') return []
    return (node.specifiers as readonly Node[]).flatMap((one): Reexport[] => {
      const [name, local] = [text(one.exported)!, text(one.local)!]
      if (isNode(node.source)) return [{ name, specifier: text(node.source)!, importedName: local }]
      const from = imported.get(local)
      return from === undefined ? [] : [{ ...from, name }]
    })
  })
}

function namesTaken(node: Node): string[] {
  if (node.type === 'TSImportType') return [isNode(node.qualifier) ? (text(node.qualifier) ?? '*') : '*']
  if (!Array.isArray(node.specifiers)) return ['*']
  return (node.specifiers as readonly Node[]).map(
    one => text(node.type === 'ImportDeclaration' ? one.imported : one.local) ?? importedWhole(one),
  )
}

function importedWhole({ type }: Node): string {
  return type === 'ImportDefaultSpecifier' ? 'default' : '*'
}

/** The name of an identifier, or the value of a text literal. */
function text(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  return typeof node.name === 'string' ? node.name : typeof node.value === 'string' ? node.value : undefined
}

const TYPES = ['ClassDeclaration', 'TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'TSEnumDeclaration']

/** Top-level classes, interfaces and types, exported or not. */
export function typesIn(program: Node): string[] {
  return (program.body as readonly Node[])
    .map(node => (isNode(node.declaration) ? node.declaration : node))
    .filter(({ type }) => TYPES.includes(type))
    .map(({ id }) => text(id)!)
}

export function isReexport(node: Node): boolean {
  return (node.type === 'ExportNamedDeclaration' || node.type === 'ExportAllDeclaration') && isNode(node.source)
}

function isImportOrReexport(node: Node): boolean {
  return node.type === 'ImportDeclaration' || node.type === 'TSImportType' || isReexport(node)
}
