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
    // What the sources would find above them in the repository.
    this.tsconfig = join(this.folder, 'tsconfig.json')
    writeFileSync(this.tsconfig, JSON.stringify({ extends: join(ROOT, 'tsconfig.base.json') }))
    writeFileSync(join(this.folder, 'package.json'), JSON.stringify({ type: 'module' }))
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'))
    // Whoever edits the library meanwhile does not change what is being proved.
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

/** The source with the fault in it. A fault that no longer fits its file would prove nothing, so it fails. */
export function planted(source: string, { file, find, replace }: Fault): string {
  const [before, after, ...more] = source.split(find)
  if (after === undefined || more.length > 0) {
    throw new Error(`stale: ${file} holds ${1 + more.length - Number(after === undefined)} times ${find}`)
  }
  return before + replace + after
}
