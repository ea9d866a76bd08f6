import type { BenchCase } from '../bench-case.ts'
import { inChild } from '../child.ts'
import { inSeveral, type Measured, ranked } from '../harness.ts'
import { print } from '../report.ts'
import { decisions } from './decisions.ts'

const PROCESS = new URL('./decisions-process.js', import.meta.url)
const PROCESS_LIMIT_MS = 5 * 60_000
const PROCESSES = 5

export const throughputCases: readonly BenchCase[] = Object.keys(decisions).map(name => ({
  name,
  run: async settings => {
    const measured = await inSeveral(PROCESSES, settings, async ({ rounds, sliceMs, against = '' }) => {
      const args = [name, String(rounds), String(sliceMs), against]
      return (await inChild(PROCESS, args, PROCESS_LIMIT_MS)) as Measured[]
    })
    const { rows, aa } = ranked(measured, ({ rates }) => rates, 'more')
    print({ bench: 'memory', case: name, unit: 'decisions/s', better: 'more', rows, aa })
  },
}))
