/** The part that is used of the command class of ioredis and iovalkey. */
type CommandClass = new (
  name: string,
  args: string[],
  options: { replyEncoding: null },
) => { getSlot(): number | null; toWritable(stream: unknown): unknown }

interface CommandSender {
  readonly options?: { readonly keyPrefix?: string; readonly enableAutoPipelining?: boolean }
  evalshaBuffer(sha: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  sendCommand(command: object): Promise<unknown>
}

type Evalsha = (sha: string, keys: readonly string[], args: readonly string[]) => Promise<unknown>

const { Buffer: bytes } = globalThis as { Buffer?: { byteLength(text: string): number } }

/**
 * Sends calls as commands whose text is made here, in one piece. The client would copy the arguments of a call three
 * times and check each one twice, which takes longer than everything else it does. Undefined if the client handles
 * commands in a way that is not known.
 */
export function preparedEvalsha(client: CommandSender): Evalsha | undefined {
  const { keyPrefix, enableAutoPipelining } = client.options ?? {}
  if (keyPrefix || enableAutoPipelining || bytes === undefined) return undefined
  const Command = commandClassOf(client)
  if (Command === undefined) return undefined
  /** The slot by first key, of which there is one for each tag. Finding it takes longer than making a call's text. */
  const slots = new Map<string, number | null>()

  class Prepared extends Command {
    private readonly first: string
    private readonly text: string

    constructor(sha: string, keys: readonly string[], args: readonly string[]) {
      // The client needs only the first key, by which it finds the slot.
      super('evalsha', [sha, '1', keys[0]!], AS_BYTES)
      this.first = keys[0]!
      // Does not keep the array of names until the reply. V8 would allocate such arrays among its old objects and keep
      // all that is in them, and a decision would take half as long again.
      this.text = textOf(sha, keys, args)
    }

    override getSlot(): number | null {
      let slot = slots.get(this.first)
      if (slot === undefined) {
        slot = super.getSlot()
        slots.set(this.first, slot)
      }
      return slot
    }

    /** The client reads it again whenever it sends the command again: to another node, or after a lost connection. */
    override toWritable(): string {
      return this.text
    }
  }
  return (sha, keys, args) => client.sendCommand(new Prepared(sha, keys, args))
}

const AS_BYTES = { replyEncoding: null }

/** Clients do not export the class. So the client makes one command, which is caught before it is sent. */
function commandClassOf(client: CommandSender): CommandClass | undefined {
  let made: object | undefined
  const catching: CommandSender = Object.create(client, {
    sendCommand: { value: (command: object) => (made = command) },
  })
  // If the client makes commands in another way, what it does with this one does not matter.
  Promise.resolve(catching.evalshaBuffer('', 0)).catch(() => undefined)
  return made !== undefined && 'toWritable' in made ? (made.constructor as CommandClass) : undefined
}

/** The text between two arguments, by length: the end of the one and the head of the next. */
const STARTS = Array.from({ length: 256 }, (_, length) => startOf(length))

function startOf(length: number): string {
  return `\r\n$${length}\r\n`
}

/** Lengths are in bytes. Nearly always all text is ASCII, where length and bytes are equal, and one look is enough. */
function textOf(sha: string, keys: readonly string[], args: readonly string[]): string {
  const head = `*${3 + keys.length + args.length}\r\n$7\r\nevalsha`
  const words = [sha, String(keys.length)]
  const text = `${head}${ofAscii(words)}${ofAscii(keys)}${ofAscii(args)}\r\n`
  if (bytes!.byteLength(text) === text.length) return text
  return `${head}${ofAny(words)}${ofAny(keys)}${ofAny(args)}\r\n`
}

function ofAscii(words: readonly string[]): string {
  let text = ''
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    // Two short steps: joining both texts first would copy them once more.
    text += STARTS[word.length] ?? startOf(word.length)
    text += word
  }
  return text
}

function ofAny(words: readonly string[]): string {
  return words.map(word => startOf(bytes!.byteLength(word)) + word).join('')
}
