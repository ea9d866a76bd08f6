/** A value of a structured field (RFC 9651). Byte sequences stay in base64, dates are seconds. */
export type BareItem = string | number | boolean
export type Parameters = ReadonlyMap<string, BareItem>
export interface FieldItem {
  readonly value: BareItem
  readonly parameters: Parameters
}

/** No server sends more limits than this. A longer field counts as malformed. */
const MAX_MEMBERS = 256
const MAX_LENGTH = 16_384

/** A List of Items; undefined if the field is malformed: then all of it is ignored. */
export function parseList(field: string): FieldItem[] | undefined {
  return parse(field, scanner => scanner.item())
}

/** A Dictionary of Items; undefined if the field is malformed. */
export function parseDictionary(field: string): Map<string, FieldItem> | undefined {
  const members = parse(field, scanner => {
    const key = scanner.key()
    if (scanner.skip('=')) return [key, scanner.item()] as const
    return [key, { value: true, parameters: scanner.parameters() }] as const
  })
  return members && new Map(members)
}

function parse<T>(field: string, member: (scanner: Scanner) => T): T[] | undefined {
  if (field.length > MAX_LENGTH) return undefined
  const scanner = new Scanner(field.replace(/^ +| +$/g, ''))
  const members: T[] = []
  try {
    if (scanner.atEnd) return members
    do {
      members.push(member(scanner))
      if (members.length > MAX_MEMBERS) return undefined
      scanner.space()
      if (scanner.atEnd) return members
      scanner.expect(',')
      scanner.space()
    } while (!scanner.atEnd)
  } catch (error) {
    if (error !== MALFORMED) throw error
  }
  return undefined
}

const MALFORMED = new Error('a malformed structured field')

class Scanner {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
  }

  get atEnd(): boolean {
    return this.at >= this.text.length
  }

  skip(char: string): boolean {
    if (this.text[this.at] !== char) return false
    this.at++
    return true
  }

  expect(char: string): void {
    if (!this.skip(char)) throw MALFORMED
  }

  space(): void {
    this.match(/[ \t]*/y)
  }

  key(): string {
    return this.match(/[a-z*][a-z0-9_.*-]*/y)
  }

  item(): FieldItem {
    return { value: this.bareItem(), parameters: this.parameters() }
  }

  parameters(): Parameters {
    const parameters = new Map<string, BareItem>()
    while (this.skip(';')) {
      this.match(/ */y)
      const key = this.key()
      parameters.set(key, this.skip('=') ? this.bareItem() : true)
    }
    return parameters
  }

  private bareItem(): BareItem {
    switch (this.text[this.at]) {
      case '"':
        return this.match(/"(?:[ !#-[\]-~]|\\["\\])*"/y)
          .slice(1, -1)
          .replace(/\\(["\\])/g, '$1')
      case ':':
        return this.match(/:[A-Za-z0-9+/=]*:/y).slice(1, -1)
      case '?':
        return this.match(/\?[01]/y) === '?1'
      case '@':
        return Number(this.match(/@-?\d{1,15}(?![\d.])/y).slice(1))
      case '%':
        return this.match(/%"(?:[ !#$&-~]|%[0-9a-f]{2})*"/y)
      default:
        return this.numberOrToken()
    }
  }

  private numberOrToken(): BareItem {
    if (/[-0-9]/.test(this.text[this.at] ?? '')) {
      return Number(this.match(/-?(?:\d{1,12}\.\d{1,3}|\d{1,15})(?![\d.])/y))
    }
    return this.match(/[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y)
  }

  private match(sticky: RegExp): string {
    sticky.lastIndex = this.at
    const [found] = sticky.exec(this.text) ?? []
    if (found === undefined) throw MALFORMED
    this.at += found.length
    return found
  }
}
