import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A file of the library that was built in another checkout, which `--against` names. */
export function libraryOf(directory: string, file: string): URL {
  return pathToFileURL(join(resolve(directory), 'packages/sluice/dist/esm', file))
}

export function isBuilt(directory: string): boolean {
  return existsSync(libraryOf(directory, 'index.js'))
}

export function nameOf(directory: string): string {
  return `sluice of ${basename(resolve(directory))}`
}
