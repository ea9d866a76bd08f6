import { FileWatch } from './file-watch.ts'
import { type Problem, RulesFileError } from './problems.ts'
import { readSources, type SourceFile } from './source-files.ts'

/** The result of a reload: what has changed, in sentences, or why the old rules stay. */
export type Reload =
  | { readonly loaded: true; readonly changes: readonly string[] }
  | { readonly loaded: false; readonly problems: readonly Problem[] }

export interface LiveRulesOptions<R> {
  /** A file, or a folder of files. */
  path: string
  load: (sources: readonly SourceFile[]) => R
  changes: (before: R, after: R) => readonly string[]
  /** Called after every reload, with the rules now in use. */
  onReload?: (reload: Reload, current: R) => void
  /** How long files must be unchanged before they are read, so that their writer can finish. 100 by default. */
  settleMs?: number
}

/** The files at one moment: `seen` identifies their content, and `load` throws their errors. */
interface FoundFiles<R> {
  readonly seen: string
  load(): R
}

/** Rules that are reloaded when their files change. Only the first load throws `RulesFileError`; later, old rules stay. */
export class LiveRules<R> {
  readonly path: string
  current: R
  /** The number of loads, including the first, and of refused reloads. */
  readonly counts = { loaded: 1, refused: 0 }
  private readonly options: LiveRulesOptions<R>
  private readonly watch: FileWatch
  private settling: NodeJS.Timeout | undefined
  private seen: string

  constructor(options: LiveRulesOptions<R>) {
    this.options = options
    this.path = options.path
    this.watch = new FileWatch(options.path, () => this.settle())
    try {
      const { seen, load } = this.find()
      this.seen = seen
      this.current = load()
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Reads the files now, whether they have changed or not: for SIGHUP. */
  reload(): Reload {
    return this.take(this.find())
  }

  close(): void {
    clearTimeout(this.settling)
    this.watch.close()
  }

  private settle(): void {
    const { settleMs = 100 } = this.options
    clearTimeout(this.settling)
    this.settling = setTimeout(() => {
      const found = this.find()
      // The system reports one change many times, and most reports about a folder are not about these files.
      if (found.seen !== this.seen) this.take(found)
    }, settleMs)
    this.settling.unref()
  }

  private find(): FoundFiles<R> {
    const { path, load } = this.options
    this.watch.renew()
    try {
      const sources = readSources(path)
      return { seen: JSON.stringify(sources), load: () => load(sources) }
    } catch (error) {
      return {
        seen: String(error),
        load() {
          throw error
        },
      }
    }
  }

  /** The callback applies the rules. If it throws, the old ones stay. */
  private take({ seen, load }: FoundFiles<R>): Reload {
    const { changes, onReload } = this.options
    const before = this.current
    this.seen = seen
    try {
      this.current = load()
      const reload: Reload = { loaded: true, changes: changes(before, this.current) }
      onReload?.(reload, this.current)
      this.counts.loaded++
      return reload
    } catch (error) {
      this.current = before
      this.counts.refused++
      const reload: Reload = { loaded: false, problems: this.problemsOf(error) }
      onReload?.(reload, this.current)
      return reload
    }
  }

  /** Reports any error as a refused reload, so that a file cannot end the service. */
  private problemsOf(error: unknown): readonly Problem[] {
    if (error instanceof RulesFileError) return error.problems
    return [{ file: this.options.path, line: 0, column: 0, code: 'SLUICE_BAD_RULES', message: String(error) }]
  }
}
