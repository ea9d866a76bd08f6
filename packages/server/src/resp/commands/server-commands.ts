import { type Command, wrongNumber } from './command.ts'
import { infoText } from './info.ts'

const NO_KEYS = [0, 0, 0] as const

export const pingCommand: Command = {
  name: 'ping',
  arity: -1,
  summary: 'Answers PONG, or what it was given',
  group: 'connection',
  flags: ['fast'],
  keys: NO_KEYS,
  run({ words, reply }) {
    if (words.count > 2) throw wrongNumber('ping')
    if (words.count === 1) reply.simple('PONG')
    else reply.bulk(words.bytes, words.starts[1]!, words.ends[1]!)
  },
}

export const echoCommand: Command = {
  name: 'echo',
  arity: 2,
  summary: 'Answers what it was given',
  group: 'connection',
  flags: ['loading', 'stale', 'fast'],
  keys: NO_KEYS,
  run({ words, reply }) {
    reply.bulk(words.bytes, words.starts[1]!, words.ends[1]!)
  },
}

export const infoCommand: Command = {
  name: 'info',
  arity: -1,
  summary: 'Tells about the server, section by section',
  group: 'server',
  flags: ['loading', 'stale'],
  keys: NO_KEYS,
  run({ words, reply, stats, throttle }) {
    const asked = Array.from({ length: words.count - 1 }, (_, i) => words.lower(i + 1))
    reply.bulkText(infoText(asked, stats, throttle.stats()))
  },
}
