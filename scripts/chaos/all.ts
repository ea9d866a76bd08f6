import { type Figures, figuresOf } from './figures.ts'
import { violations } from './laws.ts'
import { MEMORY } from './memory.ts'
import { NETWORK } from './network.ts'
import { PROCESSES } from './processes.ts'
import { REPLICATION } from './replication.ts'
import { run } from './run.ts'
import type { Scenario } from './scenario.ts'

export const SCENARIOS: readonly Scenario[] = [...PROCESSES, ...MEMORY, ...REPLICATION, ...NETWORK]

/** The figures of one fault, and what was wrong with them. */
export interface Outcome {
  readonly scenario: Scenario
  /** Undefined if the run did not finish. */
  readonly figures: Figures | undefined
  readonly wrong: readonly string[]
}

/** Runs all faults, this many at a time, each on servers of its own. */
export async function outcomesOf(scenarios: readonly Scenario[], atOnce: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const left = [...scenarios.entries()]
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      outcomes[next[0]] = await outcomeOf(next[1])
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return outcomes
}

export async function outcomeOf(scenario: Scenario): Promise<Outcome> {
  try {
    const figures = figuresOf(await run(scenario))
    return { scenario, figures, wrong: violations(scenario, figures) }
  } catch (error) {
    return { scenario, figures: undefined, wrong: [String((error as Error).stack ?? error)] }
  }
}
