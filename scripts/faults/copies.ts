import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Fault } from './fault.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const SOURCES = join(ROOT, 'packages/sluice/src')

/** Copies of the library, each of which may have one fault, in a temporary folder that goes with the process. */
export class Copies {
  readonly folder: string
  readonly tsconfig: string
  private made = 0

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'))
    process.on('exit', () => rmSync(this.folder, { recursive: true, force: true }))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
    // The files that the sources expect above them in the repository.
    this.tsconfig = join(this.folder, 'tsconfig.json')
    writeFileSync(this.tsconfig, JSON.stringify({ extends: join(ROOT, 'tsconfig.base.json') }))
    writeFileSync(join(this.folder, 'package.json'), JSON.stringify({ type: 'module' }))
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'))
    // Take all sources now, so that later edits of the library do not change the proof.
    cpSync(SOURCES, join(this.folder, 'sound'), { recursive: true })
  }

  /** The folder of a fresh copy. */
  make(fault?: Fault): string {
    const copy = join(this.folder, String(this.made++))
    cpSync(join(this.folder, 'sound'), copy, { recursive: true })
    if (fault !== undefined) {
      const file = join(copy, fault.file)
      writeFileSync(file, planted(readFileSync(file, 'utf8'), fault))
    }
    return copy
  }

  drop(copy: string): void {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** The source with the fault. Throws if the fault no longer fits its file, because it would prove nothing. */
export function planted(source: string, { file, find, replace }: Fault): string {
  const [before, after, ...more] = source.split(find)
  if (after === undefined || more.length > 0) {
    throw new Error(`stale: ${file} holds ${1 + more.length - Number(after === undefined)} times ${find}`)
  }
  return before + replace + after
}
