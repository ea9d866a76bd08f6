import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const program = fileURLToPath(new URL('../fixtures/limiter/cluster-program.ts', import.meta.url))

test.each([
  ['its own memory is told so once, and its primary is not', 'memory', 1],
  ['a remote store is not', 'remote', 0],
])('a worker of a cluster that counts in %s', { timeout: 30_000 }, async (_, store, times) => {
  const run = ['--import', 'tsx', '--conditions=@sluice/source', program, store]
  const env = { ...process.env, TSX_TSCONFIG_PATH: `${root}tsconfig.base.json` }
  const { stderr } = await promisify(execFile)(process.execPath, run, { cwd: root, env })
  expect(stderr.match(/\[SLUICE_MEMORY_IN_CLUSTER\] SluiceWarning/g) ?? []).toHaveLength(times)
})
