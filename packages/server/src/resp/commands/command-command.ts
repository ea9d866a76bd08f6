import type { ReplyWriter } from '../reply-writer.ts'
import { type Command, CommandError, quoted, wrongNumber } from './command.ts'

/** COMMAND lists the commands, for clients that route by it and for the help of redis-cli. */
export function commandCommand(all: () => readonly Command[]): Command {
  const find = (name: string) => all().find(command => command.name === name)
  return {
    name: 'command',
    arity: -1,
    summary: 'Tells which commands there are',
    group: 'server',
    flags: ['loading', 'stale'],
    keys: [0, 0, 0],
    run({ words, reply }, { protocol }) {
      const subcommand = words.count > 1 ? words.lower(1) : 'info'
      const names = Array.from({ length: Math.max(0, words.count - 2) }, (_, i) => words.lower(i + 2))
      switch (subcommand) {
        case 'count':
          if (names.length > 0) throw wrongNumber('command|count')
          reply.integer(all().length)
          break
        case 'list':
          reply.array(all().length)
          for (const { name } of all()) reply.bulkText(name)
          break
        case 'info': {
          const asked = names.length === 0 ? all() : names.map(find)
          reply.array(asked.length)
          for (const one of asked) {
            if (one === undefined) reply.nothing(protocol)
            else tell(one, reply)
          }
          break
        }
        case 'docs': {
          const asked = names.length === 0 ? all() : names.map(find).filter(one => one !== undefined)
          reply.map(protocol, asked.length)
          for (const one of asked) document(one, protocol, reply)
          break
        }
        default:
          throw new CommandError(`ERR unknown subcommand '${quoted(words.text(1))}'. Try COMMAND HELP.`)
      }
    },
  }
}

/** The last four lists (categories, tips, key specifications, subcommands) are empty. */
function tell({ name, arity, flags, keys }: Command, reply: ReplyWriter): void {
  reply.array(10)
  reply.bulkText(name)
  reply.integer(arity)
  reply.array(flags.length)
  for (const flag of flags) reply.simple(flag)
  for (const key of keys) reply.integer(key)
  for (let i = 0; i < 4; i++) reply.array(0)
}

function document({ name, summary, group }: Command, protocol: 2 | 3, reply: ReplyWriter): void {
  const pairs = { summary, since: '1.0.0', group }
  reply.bulkText(name)
  reply.map(protocol, Object.keys(pairs).length)
  for (const text of Object.entries(pairs).flat()) reply.bulkText(text)
}
