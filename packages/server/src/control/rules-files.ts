import { fileURLToPath } from 'node:url'
import { policyWords, type RateLimit, rulesOf } from 'sluice/rules'
import type { ParsedRules } from '../decider/local-decider.ts'
import { UNITS } from '../rls/service.ts'
import { ruleChanges } from '../rules/changes.ts'
import { descriptorChanges } from '../rules/descriptor-changes.ts'
import { LiveRules, type LiveRulesOptions, type Reload } from '../rules/live.ts'
import { type LoadedDescriptors, type LoadedRules, loadDescriptors, loadRules } from '../rules/load.ts'
import { problemText } from '../rules/problems.ts'
import { descriptorsReport, type RulesReport, rulesReport } from '../rules/report.ts'
import type { SourceFile } from '../rules/source-files.ts'
import type { WarningContext } from '../rules/warnings.ts'
import type { ServiceSettings } from '../settings.ts'
import type { Log } from './log.ts'

function listed(name: string, shadow: boolean, { current, policy }: RateLimit): string {
  if (current === undefined || policy === undefined) return `${name}: unlimited\n`
  const unit =
    current.unit === 0
      ? policyWords(policy)
      : `unit=${UNITS[current.unit]} requests_per_unit=${current.requestsPerUnit}`
  return `${name}: ${unit}, shadow_mode: ${shadow}\n`
}

/** The rules of a service whose settings name none. */
export const SAMPLE = fileURLToPath(new URL('../../sample.yaml', import.meta.url))

export interface RulesFilesHooks {
  /** Applies new rules. If it throws, the old rules stay. */
  use(rules: ParsedRules): void
  counted(result: 'ok' | 'refused'): void
}

/** The service's rules of both kinds. They are reloaded when their files change. */
export class RulesFiles {
  private readonly log: Log
  private readonly hooks: RulesFilesHooks
  private readonly own: LiveRules<LoadedRules> | undefined
  private readonly envoy: LiveRules<LoadedDescriptors> | undefined

  /** Throws `RulesFileError` if the files cannot be used. */
  constructor(
    { rules, envoy, mergeDomains }: Pick<ServiceSettings, 'rules' | 'envoy' | 'mergeDomains'>,
    log: Log,
    hooks: RulesFilesHooks,
  ) {
    this.log = log
    this.hooks = hooks
    const path = rules !== '' || envoy !== '' ? rules : SAMPLE
    this.own = path === '' ? undefined : this.follow({ path, load: loadRules, changes: ruleChanges })
    try {
      const load = (sources: readonly SourceFile[]) => loadDescriptors(sources, mergeDomains === 'on')
      this.envoy = envoy === '' ? undefined : this.follow({ path: envoy, load, changes: descriptorChanges })
    } catch (error) {
      this.own?.close()
      throw error
    }
  }

  get current(): ParsedRules {
    return { own: this.own?.current.parsed, envoy: this.envoy?.current.parsed ?? [] }
  }

  /** The store that the rules name; '' if they name none. */
  get store(): string {
    return this.own?.current.rules.store ?? ''
  }

  /** The content of each file and its warnings. */
  reports(context: WarningContext): readonly (RulesReport & { readonly path: string })[] {
    const { own, envoy } = this
    return [
      ...(own === undefined ? [] : [{ path: own.path, ...rulesReport(own.current, context) }]),
      ...(envoy === undefined ? [] : [{ path: envoy.path, ...descriptorsReport(envoy.current, context) }]),
    ]
  }

  /** As envoyproxy/ratelimit lists them: `domain.key_value: unit=HOUR requests_per_unit=10`. */
  descriptorList(): string {
    const rules = [...(this.envoy?.current.domains.values() ?? [])].flatMap(level => [...rulesOf(level)])
    return rules.flatMap(({ name, shadow, limits }) => limits.map(limit => listed(name, shadow, limit))).join('')
  }

  /** Reads all files now, for SIGHUP. Returns false if one of them has an error; its old rules stay. */
  reload(): boolean {
    const reloads = [this.own?.reload(), this.envoy?.reload()]
    return reloads.every(reload => reload?.loaded !== false)
  }

  stop(): void {
    this.own?.close()
    this.envoy?.close()
  }

  private follow<R>(options: Pick<LiveRulesOptions<R>, 'path' | 'load' | 'changes'>): LiveRules<R> {
    return new LiveRules<R>({ ...options, onReload: reload => this.reloaded(options.path, reload) })
  }

  private reloaded(path: string, reload: Reload): void {
    this.hooks.counted(reload.loaded ? 'ok' : 'refused')
    if (!reload.loaded) {
      this.log.warn(`${path} cannot be used, the old rules stay:\n${reload.problems.map(problemText).join('\n')}`)
      return
    }
    this.hooks.use(this.current)
    const changes = reload.changes.length === 0 ? ['nothing has changed'] : reload.changes
    this.log.info(`${path} was loaded again: ${changes.join('; ')}`)
  }
}
