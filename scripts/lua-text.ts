import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('../packages/sluice/src/stores/redis/lua/', import.meta.url))
const INCLUDE = /^( *)-- @include ([\w/-]+)(?::(\w+))?$/
const PART = /^-- @part (\w+)$/

/** The files each script is made of, in this order, after the one that says what time it is. */
const SCRIPTS = {
  decide: ['globals', 'entry', 'clock', 'kernels/exact', 'decide', 'finish'],
  probe: ['probe'],
  instances: ['instances'],
}

/** All scripts, which take the time as the file `time` says. `read` gives the text of a Lua file. */
export function luaScripts(time: string, read: (file: string) => string = readLua) {
  const scripts = Object.entries(SCRIPTS).map(([name, files]) => {
    const text = [time, ...files].flatMap(file => linesOf(read, file)).join('\n')
    return [name, { text, sha: createHash('sha1').update(text).digest('hex') }] as const
  })
  return Object.fromEntries(scripts) as Record<keyof typeof SCRIPTS, { text: string; sha: string }>
}

export function readLua(file: string): string {
  return readFileSync(`${FOLDER}${file}.lua`, 'utf8')
}

/** The lines of a file or of one part of it, includes in their places, without comments and empty lines. */
function linesOf(read: (file: string) => string, file: string, part = ''): string[] {
  const lines: string[] = []
  let current = ''
  for (const line of read(file).split('\n')) {
    const [, started] = PART.exec(line) ?? []
    if (started !== undefined) current = started
    if (started !== undefined || current !== part) continue
    const [, indent = '', included, itsPart] = INCLUDE.exec(line) ?? []
    if (included !== undefined) lines.push(...linesOf(read, included, itsPart).map(one => indent + one))
    else if (line.trim() !== '' && !line.trim().startsWith('--')) lines.push(line.trimEnd())
  }
  if (lines.length === 0) throw new Error(`no lines in part '${part}' of ${file}.lua`)
  return lines
}
