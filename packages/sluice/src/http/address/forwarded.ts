import { type Address, parseAddress } from './address.ts'

/**
 * No proxy writes a longer element. A regular expression on a megabyte that a stranger sent would overflow the stack.
 */
const LONGEST_ELEMENT = 4096
const TOKEN = "[!#$%&'*+.^_`|~\\w-]+"
const QUOTED = '"((?:[\\t !#-[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*)"'
/** One parameter of an element with the semicolon after it, or a semicolon alone. */
const PARAMETER = new RegExp(`(?:(${TOKEN})=(?:(${TOKEN})|${QUOTED}))?[ \\t]*(?:;[ \\t]*|$)`, 'y')
/** IPv6 is in brackets. Both IPv4 and IPv6 may have a port, which may be an obfuscated name. */
const NODE = /^(?:\[([^\]]*:[^\]]*)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/

/**
 * The start of the element that ends at `end`. It pairs quotes from the right, too. Paired from the left, an open quote
 * from a stranger would hide the elements that trusted proxies wrote after it.
 */
export function startOfElement(list: string, end: number): number {
  let isQuoted = false
  for (let at = end - 1; at >= 0; at--) {
    if (list[at] === '"' && !isEscaped(list, at)) isQuoted = !isQuoted
    if (list[at] === ',' && !isQuoted) return at + 1
  }
  return 0
}

function isEscaped(list: string, at: number): boolean {
  let backslashes = 0
  while (list[at - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}

/** The `for` of one element (RFC 7239). `unknown`, `_hidden` and an element that breaks the grammar have no address. */
export function forwardedFor(element: string): Address | undefined {
  if (element.length > LONGEST_ELEMENT) return undefined
  let node: string | undefined
  for (let at = 0; at < element.length; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at
    const parameter = PARAMETER.exec(element)
    if (parameter === null) return undefined
    const [, name = '', token, quoted = ''] = parameter
    if (name.toLowerCase() !== 'for') continue
    if (node !== undefined) return undefined
    node = token ?? quoted.replace(/\\(.)/g, '$1')
  }
  const [, ipv6, ipv4 = ''] = NODE.exec(node ?? '') ?? []
  return parseAddress(ipv6 ?? ipv4)
}
