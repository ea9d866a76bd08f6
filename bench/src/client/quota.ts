import type { HeaderFamily } from 'sluice/http'
import { startRedis } from 'sluice-harness'
import type { BenchCase } from '../bench-case.ts'
import { nextMessage, startBeside } from '../child.ts'
import type { Settings } from '../harness.ts'
import { print, type Row } from '../report.ts'
import { peers, sluice } from './contestants.ts'
import { eightCallers, KINDS, type Kind, limitedServer, quotaOf, type Tally, windowStart } from './limited-server.ts'

const FAMILIES: readonly HeaderFamily[] = ['draft-11', 'draft-7', 'draft-6', 'x', 'x-bucket']
const PROCESSES = 4

function row(name: string, role: Row['role'], kind: Kind, { served, refused }: Tally, ms: number, note = ''): Row {
  const readings = {
    '% of quota': (100 * served) / quotaOf(kind, ms),
    '% refused': (100 * refused) / Math.max(1, served + refused),
  }
  return { name, role, value: (served * 60_000) / ms, readings, ...(note !== '' && { note }) }
}

const report = (name: string, rows: readonly Row[]) =>
  print({ bench: 'client', case: name, unit: 'served/min', better: 'more', rows, aa: null })

const peersCase = (kind: Kind): BenchCase => {
  const name = `eight callers, 100 per 10 s as a ${kind}: clients`
  return {
    name,
    async run({ sliceMs }: Settings) {
      const server = await limitedServer()
      const clients = [sluice, ...peers]
      const entered = clients.map(client => ({ client, ...server.enter(client.name, kind, 'draft-11') }))
      await windowStart()
      await Promise.all(entered.map(({ client, url }) => eightCallers(client.start(url), sliceMs)))
      const rows = entered.map(({ client, tally }) =>
        row(client.name, client === sluice ? 'sluice' : 'peer', kind, tally, sliceMs, `told ${client.told}`),
      )
      report(name, rows)
    },
  }
}

const familiesCase = (kind: Kind): BenchCase => {
  const name = `eight callers, 100 per 10 s as a ${kind}: families of headers`
  return {
    name,
    async run({ sliceMs }: Settings) {
      const server = await limitedServer()
      const entered = FAMILIES.map(family => ({ family, ...server.enter(family, kind, family) }))
      await windowStart()
      await Promise.all(entered.map(({ url }) => eightCallers(sluice.start(url), sliceMs)))
      report(
        name,
        entered.map(({ family, tally }) => row(family, 'sluice', kind, tally, sliceMs)),
      )
    },
  }
}

const processesCase = (kind: Kind): BenchCase => {
  const name = `four processes of eight callers that share a policy through Redis, ${kind}`
  return {
    name,
    async run({ sliceMs }: Settings) {
      const server = await limitedServer()
      const redis = await startRedis()
      try {
        const { url, tally } = server.enter('shared', kind, 'draft-11')
        const args = [url, String(redis.port), kind, String(sliceMs)]
        const children = Array.from({ length: PROCESSES }, () => startBeside(import.meta.url, 'caller-process', args))
        await Promise.all(children.map(child => nextMessage(child)))
        await windowStart()
        for (const child of children) child.send('go')
        await Promise.all(children.map(child => nextMessage(child)))
        report(name, [row('sluice', 'sluice', kind, tally, sliceMs)])
      } finally {
        await redis.stop()
      }
    },
  }
}

export const quotaCases: readonly BenchCase[] = [
  ...KINDS.map(peersCase),
  ...KINDS.map(familiesCase),
  ...KINDS.map(processesCase),
]
