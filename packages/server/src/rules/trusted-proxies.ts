import { SluiceError } from 'sluice'
import { clientAddress } from 'sluice/http'
import type { Path, Rules } from 'sluice/rules'
import type { Problem } from './problems.ts'
import type { YamlFile } from './yaml-file.ts'

/** What is wrong with `trusted_proxies`: whoever finds the client's address by them has the say, range by range. */
export function proxyProblems({ trustedProxies }: Rules, { name, positionOf }: YamlFile): Problem[] {
  if (trustedProxies === undefined) return []
  const parts: [Path, string[] | number][] =
    typeof trustedProxies === 'number'
      ? [[['trusted_proxies'], trustedProxies]]
      : trustedProxies.map((range, i) => [['trusted_proxies', i], [range]])
  return parts.flatMap(([path, trustProxy]) => {
    try {
      clientAddress({ trustProxy })
      return []
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      const words = error.message.slice(0, error.message.lastIndexOf(' ['))
      return [{ file: name, ...positionOf(path, false), code: error.code, message: `trusted_proxies: ${words}` }]
    }
  })
}
