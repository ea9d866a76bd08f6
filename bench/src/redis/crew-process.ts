// One process of a contestant: node crew-process.js <case> <number of the contestant> <addresses of the servers>.
// Reports its name, then obeys the orders in crew.ts.
import { endWithParent } from '../child.ts'
import { quantilesUs } from '../statistics.ts'
import { isContest } from './contest.ts'
import type { Order, Slice } from './crew.ts'
import { Site, serverAt } from './site.ts'
import { cases } from './suite.ts'

/** How many decisions are made between two looks at the clock. */
const STRIDE = 1000

endWithParent()
const [title = '', number = '', addresses = '[]'] = process.argv.slice(2)
const contest = cases.filter(isContest).find(({ name }) => name === title)
if (contest === undefined) throw new Error(`no case '${title}'`)
const site = new Site(JSON.parse(addresses).map(serverAt), Number(number))
const latenciesMs: number[] = []
const { contestant, keys } = await contest.enter(site, latenciesMs)
const run = Object.values(contestant.ways)[0]!
process.on('message', async (order: Order) => process.send?.((await follow(order)) ?? null))
process.send?.(contestant.name)

async function follow(order: Order): Promise<Slice | undefined> {
  if (order.what === 'prepare') await (contestant.prepare?.() ?? run(keys))
  else if (order.what === 'warm up') await warmUp(order.forMs)
  else return decide(order.count)
  return undefined
}

async function warmUp(forMs: number): Promise<void> {
  const until = performance.now() + forMs
  while (performance.now() < until) await run(STRIDE)
}

async function decide(count: number): Promise<Slice> {
  latenciesMs.length = 0
  const before = process.cpuUsage()
  const admitted = await run(count)
  const { user, system } = process.cpuUsage(before)
  return {
    admitted,
    clientUs: (user + system) / count,
    ...quantilesUs(latenciesMs),
    remark: contestant.remark?.() ?? '',
  }
}
