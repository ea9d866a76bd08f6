// Proves that the tests of the Lua scripts find faults: plants one fault after another in the scripts, and on a real
// server each must fail one of the trials that the correct scripts pass. It runs in one process and in memory, to be
// quick.
import { Redis } from 'ioredis'
import { startRedis } from 'sluice-harness'
import { TIMED_SCRIPTS } from '../packages/sluice/src/fixtures/redis/timed-scripts.generated.ts'
import type { Scripts } from '../packages/sluice/src/stores/redis/wire/script.ts'
import { LUA_FAULTS } from './lua-faults/all.ts'
import { faulty, type LuaFault } from './lua-faults/plant.ts'
import { TRIALS, type Trial } from './lua-faults/trials.ts'

/** One for each core. */
const SERVERS = 2

interface Failure {
  readonly trial: string
  readonly message: string
}

const startedAt = performance.now()
const servers = await Promise.all(Array.from({ length: SERVERS }, () => startRedis()))
const clients = servers.map(({ host, port }) => new Redis(port, host))
const missed: string[] = []

/** How long each trial takes, in milliseconds. */
const times = new Map<Trial, number>()
const unsound = await withoutFault()
if (unsound !== undefined) {
  missed.push('no fault at all')
  console.log(`✗ the scripts fail a trial without any fault: ${unsound.trial}\n  ${unsound.message}\n`)
} else {
  const rows: string[][] = []
  const left = [...LUA_FAULTS.entries()]
  await Promise.all(clients.map(client => seeAll(client, left, rows)))
  const table = [['law', 'file', 'planted', 'seen by'], ...rows]
  const widths = [0, 1, 2].map(column => Math.max(...table.map(row => row[column]!.length)))
  for (const row of table) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
}

for (const client of clients) client.disconnect()
await Promise.all(servers.map(server => server.stop()))
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
console.log(
  `\n${LUA_FAULTS.length} faults in ${seconds} s\n${LUA_FAULTS.length - missed.length} passed, ${missed.length} failed`,
)
process.exitCode = missed.length > 0 ? 1 : 0

async function withoutFault(): Promise<Failure | undefined> {
  for (const trial of TRIALS) {
    const before = performance.now()
    const failure = await firstFailure(clients[0]!, TIMED_SCRIPTS, [trial])
    if (failure !== undefined) return failure
    times.set(trial, performance.now() - before)
  }
  return undefined
}

/** Runs quick trials first. A trial about the file with the fault counts as ten times as quick. */
function orderFor({ file }: LuaFault): readonly Trial[] {
  const cost = (trial: Trial) => (trial.about?.test(file) ? 0.1 : 1) * times.get(trial)!
  return TRIALS.toSorted((a, b) => cost(a) - cost(b))
}

async function seeAll(client: Redis, left: [number, LuaFault][], rows: string[][]): Promise<void> {
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const [place, fault] = next
    const seen = await firstFailure(client, faulty(fault), orderFor(fault))
    if (seen === undefined) missed.push(`${fault.file}: ${fault.says}`)
    rows[place] = [fault.law.join(', '), fault.file, fault.says, seen?.trial ?? '✗ nobody']
  }
}

async function firstFailure(client: Redis, scripts: Scripts, trials: readonly Trial[]): Promise<Failure | undefined> {
  for (const { name, run } of trials) {
    await client.flushall()
    try {
      await run(scripts, client)
    } catch (error) {
      return { trial: name, message: (error as Error).message }
    }
  }
  return undefined
}
