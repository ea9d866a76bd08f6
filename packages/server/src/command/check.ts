import { RulesFileError } from '../rules/problems.ts'
import { descriptorsReport, type RulesReport, rulesReport } from '../rules/report.ts'
import type { WarningContext } from '../rules/warnings.ts'
import { rulesAt } from './rules-at.ts'
import { EXIT, type Invocation, UsageError } from './usage.ts'

/** `sluice check`: lists every error in the rules, and warns of probable mistakes. */
export function check({
  operands: [path, ...more],
  flags: { replicas, store, 'merge-domains': mergeDomains },
  json,
}: Invocation): number {
  if (path === undefined || more.length > 0) throw new UsageError('expected sluice check <file or folder>')
  if (replicas !== undefined && !/^[1-9]\d{0,5}$/.test(replicas)) {
    throw new UsageError(`expected --replicas as a number, 1 or more, got '${replicas}'`)
  }
  const context = {
    ...(replicas !== undefined && { replicas: Number(replicas) }),
    ...(store !== undefined && { store }),
  }
  try {
    const { limits, warnings } = reportOf(path, context, mergeDomains)
    if (json) console.log(JSON.stringify({ ok: true, limits, problems: [], warnings }))
    else {
      for (const warning of warnings) console.error(`${path}: warning: ${warning.message} [${warning.code}]`)
      console.log(`${path}: ${limits} ${limits === 1 ? 'limit' : 'limits'}, ready to serve`)
    }
    return EXIT.ok
  } catch (error) {
    if (!json || !(error instanceof RulesFileError)) throw error
    console.log(JSON.stringify({ ok: false, limits: 0, problems: error.problems, warnings: [] }))
    return EXIT.wrong
  }
}

function reportOf(path: string, context: WarningContext, mergeDomains: string | undefined): RulesReport {
  const rules = rulesAt(path, mergeDomains)
  return rules.language === 'own' ? rulesReport(rules.loaded, context) : descriptorsReport(rules.loaded, context)
}
