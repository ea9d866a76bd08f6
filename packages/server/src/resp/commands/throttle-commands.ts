import { clamp, type Integer, readInteger } from '../integer.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import { freshVerdict, intervalOf, type ThrottleVerdict } from '../throttle/throttle.ts'
import { type Command, type CommandContext, CommandError, type Later, quoted } from './command.ts'
import type { Words } from './words.ts'

const USAGE = 'Cell error: Usage: cl.throttle <key> <max_burst> <count per period> <period> [<quantity>]'

export const throttleCommand: Command = {
  name: 'cl.throttle',
  arity: -1, // any number, since `run` has a better error message
  summary: 'Asks whether so many requests may pass now, by the generic cell rate algorithm',
  group: 'module',
  flags: ['write', 'fast'],
  keys: [1, 1, 1],
  isOrdered: words => words.count === 6 && words.bytes[words.starts[5]!] === 0x2d,
  run(context) {
    const { words, ask } = context
    if (words.count !== 5 && words.count !== 6) throw new CommandError(USAGE)
    const maxBurst = integerAt(words, 2)
    const count = integerAt(words, 3)
    const period = integerAt(words, 4)
    const quantity = words.count === 6 ? integerAt(words, 5) : 1
    if (maxBurst === undefined || count === undefined || period === undefined || quantity === undefined) {
      throw new CommandError(`Cell error: Couldn't parse as integer: ${quoted(words.text(firstBad(words)))}`)
    }
    if (count < 0 || period < 0) throw new CommandError('Cell error: Negative rates are not supported')
    const interval = count > 0 ? intervalOf(count, period) : 0
    if (interval === 0) throw new CommandError('Cell error: Zero rates are not supported')
    ask.interval = interval
    ask.bytes = words.bytes
    ask.start = words.starts[1]!
    ask.end = words.ends[1]!
    ask.limit = typeof maxBurst === 'number' ? maxBurst + 1 : clamp(maxBurst + 1n)
    ask.quantity = quantity
    return decide(context)
  },
}

function decide(context: CommandContext): Later {
  const { verdict } = context
  const later = context.throttle.decide(context.ask, verdict)
  if (later !== undefined) {
    context.verdict = freshVerdict()
    return later.then(() => reply => answer(context, verdict, reply))
  }
  answer(context, verdict, context.reply)
  return undefined
}

function answer({ stats }: CommandContext, verdict: ThrottleVerdict, reply: ReplyWriter): void {
  if (verdict.limited) stats.limited++
  else stats.allowed++
  reply.verdict(verdict)
}

function integerAt(words: Words, word: number): Integer | undefined {
  return readInteger(words.bytes, words.starts[word]!, words.ends[word]!)
}

function firstBad(words: Words): number {
  let word = 2
  while (integerAt(words, word) !== undefined) word++
  return word
}

export const delCommand: Command = {
  name: 'del',
  arity: -2,
  summary: 'Forgets keys, as if nothing had been asked for them, and says how many there were',
  group: 'generic',
  flags: ['write'],
  keys: [1, -1, 1],
  isOrdered: () => true,
  run({ words, throttle, reply }) {
    const found: (boolean | Promise<boolean>)[] = []
    const keys = new Set<string>()
    for (let word = 1; word < words.count; word++) {
      // A key named twice is there once.
      if (keys.has(words.text(word))) continue
      keys.add(words.text(word))
      found.push(throttle.forget(words.bytes, words.starts[word]!, words.ends[word]!))
    }
    const count = (all: readonly boolean[]) => all.filter(Boolean).length
    if (found.some(one => typeof one !== 'boolean')) {
      return Promise.all(found).then(all => later => later.integer(count(all)))
    }
    reply.integer(count(found as boolean[]))
    return undefined
  },
}
