import type { Scripts } from '../../packages/sluice/src/stores/redis/wire/script.ts'
import { planted } from '../faults/copies.ts'
import { luaScripts, readLua } from '../lua-text.ts'

/** One mistake to plant in a Lua file, as data: `find` stands exactly once in lua/`file`. */
export interface LuaFault {
  /** The laws that it breaks, by their numbers in `storeSuite`. */
  readonly law: readonly number[]
  /** The fault in plain words. */
  readonly says: string
  readonly file: string
  readonly find: string
  readonly replace: string
}

/** The timed scripts, made anew with a fault in one of their files. */
export function faulty(fault: LuaFault): Scripts {
  const file = `stores/redis/lua/${fault.file}`
  const broken = planted(readLua(nameOf(fault)), { ...fault, file, part: 'store' })
  return luaScripts('time.test', name => (name === nameOf(fault) ? broken : readLua(name)))
}

function nameOf({ file }: LuaFault): string {
  return file.replace(/\.lua$/, '')
}
