import { type LoadedDescriptors, type LoadedRules, loadDescriptors, loadRules } from '../rules/load.ts'
import { readSources } from '../rules/source-files.ts'
import { SETTINGS } from '../settings.ts'
import { UsageError } from './usage.ts'

/** Rules of either language, told apart by what stands at their top. */
export type RulesOfEitherKind =
  | { readonly language: 'own'; readonly loaded: LoadedRules }
  | { readonly language: 'envoy'; readonly loaded: LoadedDescriptors }

/** A name at the left edge, or first in a file written as JSON. */
const ENVOY = /^(?:\{\s*)?(["']?)(?:domain|descriptors)\1\s*:/m

/** Throws `RulesFileError` with everything that is wrong; the setting of `serve` is `on`, `off` or left out here too. */
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
