import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Script, Scripts } from '../../packages/sluice/src/stores/redis/wire/script.ts'
import { planted, SOURCES } from '../faults/copies.ts'

/** One mistake to plant in a Lua file, as data: `find` stands exactly once in lua/`file`. */
export interface LuaFault {
  /** The laws of the design page that it breaks. */
  readonly law: readonly number[]
  /** What was planted, in plain words. */
  readonly says: string
  readonly file: string
  readonly find: string
  readonly replace: string
}

/** The scripts with a fault in them, made anew from the text of the file it is in. */
export function faulty(scripts: Scripts, fault: LuaFault): Scripts {
  const [sound, broken] = textsOf(fault)
  const changed = Object.entries(scripts).map(([name, script]: [string, Script]) => {
    const text = script.text.replace(sound, () => broken)
    return [name, { text, sha: createHash('sha1').update(text).digest('hex') }] as const
  })
  if (changed.every(([name, { text }]) => text === scripts[name as keyof Scripts].text)) {
    throw new Error(`stale: no script has the text of ${fault.file} in it`)
  }
  return Object.fromEntries(changed) as unknown as Scripts
}

/** A Lua file as the scripts have it, without the fault and with it. */
export function textsOf(fault: LuaFault): [sound: string, broken: string] {
  const file = `stores/redis/lua/${fault.file}`
  const source = readFileSync(join(SOURCES, file), 'utf8')
  return [stripped(source), stripped(planted(source, { ...fault, file, part: 'store' }))]
}

/** As generate-lua.ts embeds it. */
function stripped(source: string): string {
  const lines = source.split('\n').map(line => line.trim())
  return lines.filter(line => line !== '' && !line.startsWith('--')).join('\n')
}
