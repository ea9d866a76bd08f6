import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { remainders } from '../../fixtures/http/adapter-suite/answer.ts'
import { Http1Connection } from '../../fixtures/http/adapter-suite/http1-connection.ts'
import { pathServers, ROUTES, startNginxReader } from '../../fixtures/http/path-servers.ts'
import { KNOWN_SPELLINGS, spelling } from '../../fixtures/http/spelt.ts'
import { routeTable } from './routes.ts'

const PATIENCE = { timeout: 120_000 }
const NAMES = Object.keys(ROUTES) as (keyof typeof ROUTES)[]
const NGINX = ['nginx, merge_slashes on', 'nginx, merge_slashes off']
const routesOf = routeTable(Object.values(ROUTES))
let limited: Awaited<ReturnType<typeof pathServers>>
let nginxes: Awaited<ReturnType<typeof startNginxReader>>[]

beforeAll(async () => {
  limited = await pathServers()
  nginxes = [await startNginxReader('on'), await startNginxReader('off')]
})

afterAll(async () => {
  await limited.stop()
  for (const nginx of nginxes) await nginx.stop()
})

async function ask(port: number, target: string): Promise<{ reached: string; counted: readonly string[] }> {
  const connection = await Http1Connection.open(port)
  try {
    const answer = await connection.get(target, { Connection: 'close' })
    return { reached: answer.body, counted: Object.keys(remainders(answer)) }
  } finally {
    connection.leave()
  }
}

/** Which servers reach which handler for a target; fails where the limit on that did not count. */
async function readingsBy(target: string): Promise<string[]> {
  const behindLimit = Object.entries(limited.ports).map(async ([server, port]) => {
    return { server, ...(await ask(port, target)) }
  })
  const alone = nginxes.map(async ({ port }, i) => {
    const { reached } = await ask(port, target)
    const templates = routesOf(target)
    return { server: NGINX[i]!, reached, counted: NAMES.filter(name => templates.includes(ROUTES[name])) }
  })
  const answers = (await Promise.all([...behindLimit, ...alone])).filter(({ reached }) => reached in ROUTES)
  for (const { server, reached, counted } of answers) {
    if (counted.some(name => name === reached)) continue
    throw new Error(`${server} serves ${reached} for ${JSON.stringify(target)}, uncounted`)
  }
  return answers.map(({ server, reached }) => `${server}: ${reached}`)
}

test.each([
  ['login', '/login'],
  ['file', '/files/a'],
  ['order', '/orders/1'],
  ['item', '/shops/1/2'],
])('every server reaches %s at %s, and it is counted', async (name, path) => {
  const servers = [...Object.keys(limited.ports), ...NGINX]
  expect(await readingsBy(path)).toEqual(servers.map(server => `${server}: ${name}`))
})

test('every known spelling reaches a handler somewhere, and is counted', PATIENCE, async () => {
  for (const target of KNOWN_SPELLINGS) expect(await readingsBy(target), target).not.toEqual([])
})

test('whoever finds a route in any spelling, the limit on that route has counted', PATIENCE, async () => {
  await fc.assert(
    fc.asyncProperty(spelling, async target => void (await readingsBy(target))),
    { numRuns: 150 },
  )
})
