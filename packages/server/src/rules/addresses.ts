import { SluiceError } from 'sluice'
import { addressRanges, clientAddress } from 'sluice/http'
import type { Path, Rules } from 'sluice/rules'
import type { Problem } from './problems.ts'
import type { YamlFile } from './yaml-file.ts'

/** The errors in a list of addresses. The code that compares addresses checks each range. */
export function addressProblems({ trustedProxies, allow, deny }: Rules, { name, positionOf }: YamlFile): Problem[] {
  const problems: Problem[] = []
  const attempt = (path: Path, use: () => unknown) => {
    try {
      use()
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      const words = error.message.slice(0, error.message.lastIndexOf(' ['))
      problems.push({ file: name, ...positionOf(path, false), code: error.code, message: `${path[0]}: ${words}` })
    }
  }
  const isCount = typeof trustedProxies === 'number'
  if (isCount) attempt(['trusted_proxies'], () => clientAddress({ trustProxy: trustedProxies }))
  for (const [i, range] of (isCount ? [] : (trustedProxies ?? [])).entries()) {
    attempt(['trusted_proxies', i], () => clientAddress({ trustProxy: [range] }))
  }
  for (const [list, entries] of Object.entries({ allow, deny })) {
    entries.forEach((entry, i) => {
      if (typeof entry === 'string') attempt([list, i], () => addressRanges([entry], list))
    })
  }
  return problems
}
