import { type FSWatcher, realpathSync, statSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isRulesName } from './source-files.ts'

/** Kubernetes swaps a link of this name to change all files of a ConfigMap at once. */
const CONFIG_MAP_LINK = '..data'

/**
 * Calls back when a file, or the YAML files of a folder, may have changed.
 *
 * It watches folders, not files: editors and Kubernetes replace a file by a new one, and a watch on the file would stay with
 * the old one. If the path is a link, it watches the folder of the target as well.
 */
export class FileWatch {
  private readonly path: string
  private readonly onChange: () => void
  private watchers: FSWatcher[] = []

  constructor(path: string, onChange: () => void) {
    this.path = path
    this.onChange = onChange
    this.renew()
  }

  /** Follows links that lead elsewhere now. Call this before reading the files, so that no change is missed. */
  renew(): void {
    const before = this.watchers
    this.watchers = []
    for (const [folder, concerns] of this.places()) this.add(folder, concerns)
    for (const watcher of before) watcher.close()
  }

  close(): void {
    for (const watcher of this.watchers) watcher.close()
    this.watchers = []
  }

  /** The folders to watch, and which names in them matter. */
  private places(): Map<string, (name: string) => boolean> {
    const places = new Map<string, (name: string) => boolean>()
    const real = attempt(() => realpathSync(this.path)) ?? this.path
    for (const path of new Set([real, this.path])) {
      const name = basename(path)
      places.set(dirname(path), changed => changed === name || changed === CONFIG_MAP_LINK)
      const isFolder = attempt(() => statSync(path).isDirectory()) ?? false
      if (isFolder) places.set(path, changed => isRulesName(changed) || changed === CONFIG_MAP_LINK)
    }
    return places
  }

  private add(folder: string, concerns: (name: string) => boolean): void {
    const watcher = attempt(() =>
      watch(folder, { persistent: false }, (_, name) => {
        if (name === null || concerns(name)) this.onChange()
      }),
    )
    if (watcher === undefined) return
    watcher.on('error', () => watcher.close())
    this.watchers.push(watcher)
  }
}

/** A missing file or folder may be created later, so the folder above it is watched. */
function attempt<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch {
    return undefined
  }
}
