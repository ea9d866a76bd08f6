import { checkOptions } from '../../check-options.ts'
import { expected } from '../../errors.ts'
import type { LimiterOptions } from '../../limiter/limiter.ts'
import { NamedLimiter } from '../../limiter/named-limiter.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import { type DescriptorFileOptions, type Domains, readDescriptorFiles } from './descriptor-file.ts'
import { type DescriptorExplanation, explainMatch } from './explain.ts'
import { batchesOf, type DescriptorHit, type HitBatch } from './hit-batch.ts'
import { hitsFor } from './hits.ts'
import { type Match, matchAll } from './matching.ts'
import { checkRequest, hitsOf, RlsError, type RlsRequest } from './request.ts'
import { counterLimits, counterRefs } from './rule-counters.ts'
import { type CountedHits, type RlsResponse, responseOf, tellCounted } from './statuses.ts'
import { takeAll, takeApart } from './taking.ts'

export interface RlsOptions
  extends Pick<LimiterOptions, 'store' | 'clock' | 'prefix' | 'onEvent'>,
    DescriptorFileOptions {
  /**
   * `'together'` charges all descriptors of a request or none. `'apart'` charges each by itself, refused hits included,
   * as envoyproxy/ratelimit does.
   */
  counting?: 'together' | 'apart'
  /** Every request passes; the statuses still say what would have happened. */
  shadow?: boolean
  onDecision?: (response: RlsResponse, request: RlsRequest) => void
  /** Called with the outcome of the hits on each limit, for statistics. */
  onCounted?: (counted: CountedHits) => void
}

/** The decisions of Envoy's rate limit service, from descriptor files, without the network protocol. */
export interface Rls {
  readonly domains: Domains
  /** An invalid request throws `RlsError`. With an in-process store the answer is the value itself. */
  shouldRateLimit(request: RlsRequest): Maybe<RlsResponse>
  /** Forgets what is counted for everything a request matches. */
  reset(request: RlsRequest): Maybe<void>
  /** Which rule each descriptor matches, and why. Nothing is counted. */
  explain(request: RlsRequest): DescriptorExplanation[]
  close(): Maybe<void>
}

const KNOWN = [
  ...['store', 'clock', 'prefix', 'onEvent', 'counting', 'shadow', 'mergeDomains', 'onDecision', 'onCounted'],
]

/** The rules of parsed files for envoyproxy/ratelimit; throws `RulesError` with all their errors. */
export function rls(files: readonly unknown[], options: RlsOptions = {}): Rls {
  const {
    counting = 'together',
    shadow = false,
    mergeDomains = false,
    onDecision,
    onCounted,
    ...limiterOptions
  } = checkOptions('rls', options, KNOWN)
  if (counting !== 'together' && counting !== 'apart') {
    throw expected('SLUICE_BAD_OPTION', "counting 'together' or 'apart'", counting)
  }
  const domains = readDescriptorFiles(files, { mergeDomains })
  const refs = counterRefs(domains)
  const select = (batch: HitBatch) => batch.map(({ counter }) => counter)
  const limiter = new NamedLimiter<HitBatch>({ name: 'rls', ...limiterOptions, select }, counterLimits(refs), false)

  const matchesOf = (request: RlsRequest): Match[] => {
    checkRequest(request)
    if (domains.size === 0) throw new RlsError('Unavailable', 'no rules are loaded')
    return matchAll(domains.get(request.domain), request.descriptors)
  }
  return {
    domains,
    shouldRateLimit(request) {
      const matches = matchesOf(request)
      const hits = hitsFor(request, matches, refs)
      if (counting === 'together') for (const hit of hits) tellLate(limiter, hit)
      const taken = counting === 'apart' ? takeApart(limiter, hits) : takeAll(limiter, hits)
      return andThen(taken, decided => {
        if (onCounted !== undefined) tellCounted(decided, onCounted)
        const response = responseOf(matches, decided)
        const told: RlsResponse = shadow ? { ...response, overall: 'OK' } : response
        onDecision?.(told, request)
        return told
      })
    },
    reset(request) {
      const batches = batchesOf(hitsFor(request, matchesOf(request), refs))
      const resets = batches.map((batch): Maybe<void> => limiter.reset(batch))
      return resets.some(reset => reset instanceof Promise) ? Promise.all(resets).then(() => {}) : undefined
    },
    explain: request =>
      matchesOf(request).map(match => explainMatch(request.domain, match, hitsOf(match.descriptor, request))),
    close: () => limiter.close() as Maybe<void>,
  }
}

/** Hits above 1 are often a cost that is reported late. Such a rule must say `overdraw: true`, or `false` if it is not one. */
function tellLate({ warn }: NamedLimiter<HitBatch>, { cost, overdraw, effect, path }: DescriptorHit): void {
  if (cost <= 1 || overdraw !== undefined || effect === 'shadow' || path === undefined) return
  const what = `rule '${path.join('.')}' gets hits above 1, and refuses those above what is left without counting them`
  warn('SLUICE_NO_OVERDRAW', `${what}: write overdraw: true if the work is done by then, or overdraw: false`)
}
