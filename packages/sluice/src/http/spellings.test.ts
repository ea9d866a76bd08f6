import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Wire } from './fixtures/adapter-suite/wire.ts'
import { nginxWithLogin, pathServers, REACHED, ROUTES } from './fixtures/path-servers.ts'
import { KNOWN_SPELLINGS, spelling } from './fixtures/spelt.ts'
import { routeTable } from './routes.ts'

const PATIENCE = { timeout: 120_000 }
const routesOf = routeTable(ROUTES)
let limited: Awaited<ReturnType<typeof pathServers>>
let nginxes: Awaited<ReturnType<typeof nginxWithLogin>>[]

beforeAll(async () => {
  limited = await pathServers()
  nginxes = [await nginxWithLogin('on'), await nginxWithLogin('off')]
})

afterAll(async () => {
  await limited.stop()
  for (const nginx of nginxes) await nginx.stop()
})

async function ask(port: number, target: string): Promise<{ reached: boolean; counted: boolean }> {
  const wire = await Wire.open(port)
  try {
    const { body, fields } = await wire.get(target, { Connection: 'close' })
    return { reached: body === REACHED, counted: fields.has('ratelimit') }
  } finally {
    wire.leave()
  }
}

/** Who reads a target as the login; fails where the limit on it did not count that. */
async function readersOf(target: string): Promise<string[]> {
  const behindLimit = Object.entries(limited.ports).map(async ([name, port]) => {
    const { reached, counted } = await ask(port, target)
    if (reached && !counted) throw new Error(`${name} serves the login for ${JSON.stringify(target)}, uncounted`)
    return reached ? [name] : []
  })
  const alone = nginxes.map(async ({ port }, i) => {
    const { reached } = await ask(port, target)
    const name = `nginx, merge_slashes ${i === 0 ? 'on' : 'off'}`
    if (reached && !routesOf(target).includes('/login')) throw new Error(`${name} serves the login for ${target}`)
    return reached ? [name] : []
  })
  return (await Promise.all([...behindLimit, ...alone])).flat()
}

test('every known spelling is the login to somebody, and is counted', PATIENCE, async () => {
  for (const target of KNOWN_SPELLINGS) expect(await readersOf(target), target).not.toEqual([])
})

test('whoever reads any spelling as the login, the limit on it has counted', PATIENCE, async () => {
  const reached = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(spelling, async target => {
      for (const name of await readersOf(target)) reached.set(name, (reached.get(name) ?? 0) + 1)
    }),
    { numRuns: 400 },
  )
  // Each has read some as the login: otherwise nothing was tried on it.
  expect([...reached.keys()].sort()).toEqual([...Object.keys(limited.ports), ...NGINX].sort())
})

const NGINX = ['nginx, merge_slashes on', 'nginx, merge_slashes off']
