import { connect } from 'node:net'

export type Address = { host: string; port: number } | { path: string }

/** RESP2, with text as UTF-8. An error inside an array is a value; one that is the whole reply rejects. */
export type Reply = string | number | null | RespError | Reply[]

/** An error reply of the server. The message is its line, such as `MOVED 3999 127.0.0.1:6381`. */
export class RespError extends Error {
  override name = 'RespError'
}

/** Sends one command over a new connection, so that no earlier reply, pause or restart affects it. */
export function ask(address: Address, args: readonly string[], withinMs = 5000): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = connect(address)
    const chunks: Buffer[] = []
    const settle = (act: () => void) => {
      clearTimeout(timer)
      socket.destroy()
      act()
    }
    const fail = (why: string) => settle(() => reject(new Error(`${args[0]} to ${nameOf(address)}: ${why}`)))
    const timer = setTimeout(() => fail(`no reply within ${withinMs} ms`), withinMs)
    socket.on('error', error => fail(error.message))
    socket.on('close', () => fail('the connection was closed'))
    socket.on('data', chunk => {
      chunks.push(chunk)
      const reply = parseReply(Buffer.concat(chunks))?.value
      if (reply !== undefined) settle(() => (reply instanceof RespError ? reject(reply) : resolve(reply)))
    })
    socket.write(encodeCommand(args))
  })
}

function nameOf(address: Address): string {
  return 'path' in address ? address.path : `${address.host}:${address.port}`
}

export function encodeCommand(args: readonly string[]): string {
  return `*${args.length}\r\n${args.map(arg => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join('')}`
}

/** The reply that starts at `at` and where it ends, or undefined while some of its bytes are still to come. */
export function parseReply(bytes: Buffer, at = 0): { value: Reply; end: number } | undefined {
  const lineEnd = bytes.indexOf('\r\n', at)
  if (lineEnd === -1) return undefined
  const line = bytes.toString('utf8', at + 1, lineEnd)
  const next = lineEnd + 2
  const kind = String.fromCharCode(bytes[at]!)
  switch (kind) {
    case '+':
      return { value: line, end: next }
    case '-':
      return { value: new RespError(line), end: next }
    case ':':
      return { value: Number(line), end: next }
    case '$':
      return parseBulk(bytes, next, Number(line))
    case '*':
      return parseArray(bytes, next, Number(line))
    default:
      throw new Error(`Not RESP2: a reply starts with ${JSON.stringify(kind)}`)
  }
}

function parseBulk(bytes: Buffer, at: number, length: number): { value: Reply; end: number } | undefined {
  if (length === -1) return { value: null, end: at }
  const end = at + length
  return bytes.length < end + 2 ? undefined : { value: bytes.toString('utf8', at, end), end: end + 2 }
}

function parseArray(bytes: Buffer, at: number, length: number): { value: Reply; end: number } | undefined {
  if (length === -1) return { value: null, end: at }
  const value: Reply[] = []
  let end = at
  for (let i = 0; i < length; i++) {
    const item = parseReply(bytes, end)
    if (item === undefined) return undefined
    value.push(item.value)
    end = item.end
  }
  return { value, end }
}
