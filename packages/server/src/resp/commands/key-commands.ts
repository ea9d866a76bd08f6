import { readInteger } from '../integer.ts'
import type { Throttle } from '../throttle/throttle.ts'
import { type Command, type CommandContext, CommandError, type Later } from './command.ts'
import type { Words } from './words.ts'

// A key exists until its arrival time has passed, as in redis-cell, which sets its TTL to that time.

export const existsCommand: Command = {
  name: 'exists',
  arity: -2,
  summary: 'Says how many of the keys have something counted',
  group: 'generic',
  flags: ['readonly', 'fast'],
  keys: [1, -1, 1],
  isOrdered: () => true,
  run(context) {
    const { words, throttle } = context
    const all = Array.from({ length: words.count - 1 }, (_, i) => leftOf(throttle, words, i + 1))
    const count = (left: readonly number[]) => left.filter(ms => ms > 0).length
    if (all.some(one => typeof one !== 'number')) {
      return Promise.all(all).then(left => reply => reply.integer(count(left)))
    }
    context.reply.integer(count(all as number[]))
    return undefined
  },
}

export const ttlCommand = timeCommand('ttl', 'Says in how many seconds a key is as good as new', 1000)
export const pttlCommand = timeCommand('pttl', 'Says in how many milliseconds a key is as good as new', 1)

function timeCommand(name: string, summary: string, unitMs: number): Command {
  return {
    name,
    arity: 2,
    summary,
    group: 'generic',
    flags: ['readonly', 'fast'],
    keys: [1, 1, 1],
    isOrdered: () => true,
    run: context => answerLeft(context, ms => (ms > 0 ? Math.ceil(ms / unitMs) : -2)),
  }
}

export const expireCommand: Command = {
  name: 'expire',
  arity: 3,
  summary: 'Forgets a key if the time is 0 or less; no other time can be set, which is answered by 0',
  group: 'generic',
  flags: ['write', 'fast'],
  keys: [1, 1, 1],
  isOrdered: () => true,
  run(context) {
    const { words, throttle } = context
    const seconds = readInteger(words.bytes, words.starts[2]!, words.ends[2]!)
    if (seconds === undefined) throw new CommandError('ERR value is not an integer or out of range')
    if (seconds > 0) return answerLeft(context, () => 0)
    const forgotten = throttle.forget(words.bytes, words.starts[1]!, words.ends[1]!)
    if (typeof forgotten !== 'boolean') return forgotten.then(was => reply => reply.integer(was ? 1 : 0))
    context.reply.integer(forgotten ? 1 : 0)
    return undefined
  },
}

function answerLeft({ words, throttle, reply }: CommandContext, answer: (ms: number) => number): Later {
  const left = leftOf(throttle, words, 1)
  if (typeof left !== 'number') return left.then(ms => slow => slow.integer(answer(ms)))
  reply.integer(answer(left))
  return undefined
}

function leftOf(throttle: Throttle, words: Words, word: number): number | Promise<number> {
  return throttle.left(words.bytes, words.starts[word]!, words.ends[word]!)
}
