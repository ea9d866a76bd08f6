import { nearestName } from '../check-options.ts'
import { type ErrorCode, expected, SluiceError } from '../errors.ts'
import { type Mistake, type Path, pathText, RulesError } from './mistakes.ts'

/**
 * A value of a parsed file, with its place. A reader reports what is wrong, returns `undefined` and goes on, so that
 * all errors are found at once.
 */
export class ConfigNode {
  readonly value: unknown
  readonly path: Path
  private readonly file: number
  private readonly mistakes: Mistake[]

  constructor(value: unknown, path: Path, file: number, mistakes: Mistake[]) {
    this.value = value
    this.path = path
    this.file = file
    this.mistakes = mistakes
  }

  /** Reports that something else was expected here. */
  wrong(what: string, advice?: string, code: ErrorCode = 'SLUICE_BAD_OPTION'): undefined {
    return this.note(expected(code, what, this.value, advice))
  }

  /** Reports that this name should not be here. */
  wrongName(what: string, advice?: string): undefined {
    return this.note(expected('SLUICE_BAD_OPTION', what, this.path.at(-1), advice), true)
  }

  /** Returns what `make` returns, or reports its error. */
  attempt<T>(make: () => T): T | undefined {
    try {
      return make()
    } catch (error) {
      if (error instanceof SluiceError) return this.note(error)
      throw error
    }
  }

  /** The values of a map by name. Every unknown name is reported. */
  members(what: string, known?: readonly string[]): Map<string, ConfigNode> | undefined {
    const { value } = this
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.wrong(what)
    const members = new Map<string, ConfigNode>()
    for (const [name, member] of Object.entries(value)) {
      const node = new ConfigNode(member, [...this.path, name], this.file, this.mistakes)
      if (known === undefined || known.includes(name)) members.set(name, node)
      else node.unknownName(name, known)
    }
    return members
  }

  /** Reports an unknown name: suggests the nearest known name, or lists all of them if none is near. */
  private unknownName(name: string, known: readonly string[]): undefined {
    const meant = nearestName(name, known)
    return meant === undefined
      ? this.wrongName(`one of ${known.join(', ')}`)
      : this.wrongName('a known name', `write ${meant}`)
  }

  /** The items of a list that is not empty. */
  items(what: string): ConfigNode[] | undefined {
    if (!Array.isArray(this.value) || this.value.length === 0) return this.wrong(what)
    return this.value.map((item, i) => new ConfigNode(item, [...this.path, i], this.file, this.mistakes))
  }

  /** The node under a name, even if the file leaves it out. */
  member(name: string): ConfigNode {
    const value = Object.getOwnPropertyDescriptor(Object(this.value), name)?.value
    return new ConfigNode(value, [...this.path, name], this.file, this.mistakes)
  }

  /** The same node, for a value that must not be shown, such as a password. */
  shownAs(value: unknown): ConfigNode {
    return new ConfigNode(value, this.path, this.file, this.mistakes)
  }

  /** Text that is not empty. */
  text(what: string): string | undefined {
    if (typeof this.value === 'string' && this.value !== '') return this.value
    return this.wrong(what, isScalar(this.value) ? `put it in quotes: '${this.value}'` : undefined)
  }

  /** Text as written, even if YAML reads it as a number or a boolean, such as 404 or true. */
  spelt(what: string): string | undefined {
    return isScalar(this.value) || typeof this.value === 'string' ? String(this.value) : this.wrong(what)
  }

  flag(what: string): boolean | undefined {
    return typeof this.value === 'boolean' ? this.value : this.wrong(what)
  }

  oneOf<T extends string>(choices: readonly T[], advice?: string): T | undefined {
    const choice = choices.find(one => one === this.value)
    return choice ?? this.wrong(`one of ${choices.map(one => `'${one}'`).join(', ')}`, advice)
  }

  private note(error: SluiceError, inName = false): undefined {
    // Leaves out the code, which has a field of its own, and the link to the docs.
    const words = error.message.slice(0, error.message.lastIndexOf(' ['))
    const where = pathText(inName ? this.path.slice(0, -1) : this.path)
    this.mistakes.push({
      file: this.file,
      path: this.path,
      inName,
      code: error.code,
      message: `${where}: ${words}`,
    })
    return undefined
  }
}

/** Reads one file or several; throws all their errors. */
export function readFiles<T>(files: readonly unknown[], read: (nodes: readonly ConfigNode[]) => T | undefined): T {
  const mistakes: Mistake[] = []
  const made = read(files.map((value, file) => new ConfigNode(value, [], file, mistakes)))
  if (made === undefined || mistakes.length > 0) throw new RulesError(mistakes)
  return made
}

function isScalar(value: unknown): value is number | boolean {
  return typeof value === 'number' || typeof value === 'boolean'
}
