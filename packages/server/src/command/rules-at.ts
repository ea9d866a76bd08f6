import { type LoadedDescriptors, type LoadedRules, loadDescriptors, loadRules } from '../rules/load.ts'
import { readSources } from '../rules/source-files.ts'
import { SETTINGS } from '../settings.ts'
import { UsageError } from './usage.ts'

/** Rules in Sluice's language or in that of envoyproxy/ratelimit. The names at the top of the file tell which. */
export type RulesOfEitherKind =
  | { readonly language: 'own'; readonly loaded: LoadedRules }
  | { readonly language: 'envoy'; readonly loaded: LoadedDescriptors }

/** A name at the start of a line, or the first name of a file in JSON. */
const ENVOY = /^(?:\{\s*)?(["']?)(?:domain|descriptors)\1\s*:/m

/** Throws `RulesFileError` with all errors. The setting of `serve` applies here, too: `on`, `off` or undefined. */
export function rulesAt(path: string, mergeDomains?: string): RulesOfEitherKind {
  if (mergeDomains !== undefined && SETTINGS.mergeDomains.read(mergeDomains) === undefined) {
    throw new UsageError(
      `expected --${SETTINGS.mergeDomains.flag} ${SETTINGS.mergeDomains.expects}, got '${mergeDomains}'`,
    )
  }
  const sources = readSources(path)
  const isEnvoy = sources.length > 1 || sources.some(({ text }) => ENVOY.test(text))
  if (isEnvoy) return { language: 'envoy', loaded: loadDescriptors(sources, mergeDomains === 'on') }
  return { language: 'own', loaded: loadRules(sources) }
}
