// Proves that the tests of the Lua scripts see: plants one fault after another in them, and on a real server each must
// fail one of the trials that the sound ones pass. In memory and in one process, so that it takes seconds.
import { Redis } from 'ioredis'
import { startRedis } from 'sluice-harness'
import { TIMED_SCRIPTS } from '../packages/sluice/src/stores/redis/fixtures/timed-scripts.generated.ts'
import type { Scripts } from '../packages/sluice/src/stores/redis/script.ts'
import { LUA_FAULTS } from './lua-faults/all.ts'
import { faulty } from './lua-faults/plant.ts'
import { TRIALS } from './lua-faults/trials.ts'

const startedAt = performance.now()
const server = await startRedis()
const client = new Redis(server.port, server.host)
const missed: string[] = []

const unsound = await firstFailure(TIMED_SCRIPTS)
if (unsound !== undefined) {
  missed.push('no fault at all')
  console.log(`✗ the scripts fail a trial without any fault: ${unsound.trial}\n  ${unsound.message}\n`)
} else {
  const table = [['law', 'file', 'planted', 'seen by']]
  for (const fault of LUA_FAULTS) {
    const seen = await firstFailure(faulty(TIMED_SCRIPTS, fault))
    if (seen === undefined) missed.push(`${fault.file}: ${fault.says}`)
    table.push([fault.law.join(', '), fault.file, fault.says, seen?.trial ?? '✗ nobody'])
  }
  const widths = [0, 1, 2].map(column => Math.max(...table.map(row => row[column]!.length)))
  for (const row of table) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
}

client.disconnect()
await server.stop()
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
console.log(
  `\n${LUA_FAULTS.length} faults in ${seconds} s\n${LUA_FAULTS.length - missed.length} passed, ${missed.length} failed`,
)
process.exitCode = missed.length > 0 ? 1 : 0

async function firstFailure(scripts: Scripts): Promise<{ trial: string; message: string } | undefined> {
  for (const { name, run } of TRIALS) {
    await client.flushall()
    try {
      await run(scripts, client)
    } catch (error) {
      return { trial: name, message: (error as Error).message }
    }
  }
  return undefined
}
