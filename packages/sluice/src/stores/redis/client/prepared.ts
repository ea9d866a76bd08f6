/** As much as is used of the class that ioredis and iovalkey make their commands of. */
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
 * Sends calls as commands whose text is made here, in one go. The client would copy the arguments of a call three times
 * and look at each by itself twice, which takes longer than all else it does. Undefined where it does more to commands
 * than to send them, or makes them in a way that is not known.
 */
export function preparedEvalsha(client: CommandSender): Evalsha | undefined {
  const { keyPrefix, enableAutoPipelining } = client.options ?? {}
  if (keyPrefix || enableAutoPipelining || bytes === undefined) return undefined
  const Command = commandClassOf(client)
  if (Command === undefined) return undefined
  /** By first key, of which there is one for each tag. To find it out takes longer than to make a call's text. */
  const slots = new Map<string, number | null>()

  class Prepared extends Command {
    private readonly first: string
    private readonly text: string

    constructor(sha: string, keys: readonly string[], args: readonly string[]) {
      // Of its keys the client needs but the first, by which it finds the slot.
      super('evalsha', [sha, '1', keys[0]!], AS_BYTES)
      this.first = keys[0]!
      // Not the names it is made of, which would live until the answer. V8 takes arrays that do for ones that stay, makes
      // them among its old objects, and keeps all that is in them: a decision then takes half as long again.
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

    /** Asked for again whenever it is sent again: to another node, or after a connection was lost. */
    override toWritable(): string {
      return this.text
    }
  }
  return (sha, keys, args) => client.sendCommand(new Prepared(sha, keys, args))
}

const AS_BYTES = { replyEncoding: null }

/** Clients do not hand it out. So one is let make a command, and that is caught before it is sent. */
function commandClassOf(client: CommandSender): CommandClass | undefined {
  let made: object | undefined
  const catching: CommandSender = Object.create(client, {
    sendCommand: { value: (command: object) => (made = command) },
  })
  // Whatever a client made in another way does with it, and answers, does not matter.
  Promise.resolve(catching.evalshaBuffer('', 0)).catch(() => undefined)
  return made !== undefined && 'toWritable' in made ? (made.constructor as CommandClass) : undefined
}

/** By length: how an argument starts, and the one before it ends. */
const STARTS = Array.from({ length: 256 }, (_, length) => startOf(length))

function startOf(length: number): string {
  return `\r\n$${length}\r\n`
}

/** Lengths are in bytes. Nearly always all is ASCII, where those are the lengths of the texts, and looking once will do. */
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
    // Two short steps: a text put together from both would be copied once more.
    text += STARTS[word.length] ?? startOf(word.length)
    text += word
  }
  return text
}

function ofAny(words: readonly string[]): string {
  return words.map(word => startOf(bytes!.byteLength(word)) + word).join('')
}
