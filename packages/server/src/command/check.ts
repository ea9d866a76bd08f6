import { rulesOf } from 'sluice/rules'
import { RulesFileError } from '../rules/problems.ts'
import { descriptorWarnings, type RulesWarning, ruleWarnings, type WarningContext } from '../rules/warnings.ts'
import { rulesAt } from './rules-at.ts'
import { EXIT, type Invocation, UsageError } from './usage.ts'

/** `sluice check`: everything that is wrong with rules, and what works but is seldom meant. */
export function check({ operands: [path, ...more], flags: { replicas, store }, json }: Invocation): number {
  if (path === undefined || more.length > 0) throw new UsageError('expected sluice check <file or folder>')
  if (replicas !== undefined && !/^[1-9]\d{0,5}$/.test(replicas)) {
    throw new UsageError(`expected --replicas as a number, 1 or more, got '${replicas}'`)
  }
  const context = {
    ...(replicas !== undefined && { replicas: Number(replicas) }),
    ...(store !== undefined && { store }),
  }
  try {
    const { limits, warnings } = inspect(path, context)
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

function inspect(path: string, context: WarningContext): { limits: number; warnings: readonly RulesWarning[] } {
  const rules = rulesAt(path)
  if (rules.language === 'own') {
    return { limits: rules.loaded.rules.limits.length, warnings: ruleWarnings(rules.loaded.rules, context) }
  }
  const { domains } = rules.loaded
  const counted = [...domains.values()].flatMap(level => [...rulesOf(level)]).flatMap(({ limits }) => limits)
  return { limits: counted.length, warnings: descriptorWarnings(domains, context) }
}
