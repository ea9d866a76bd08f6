import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Policy } from 'sluice'
import type { Place, Task, Told } from './task.ts'

export const PROCESSES = 4
export const CALLERS = 50

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url))
const TSCONFIG = fileURLToPath(new URL('../../tsconfig.base.json', import.meta.url))
/** The time from the order to the start, so that every process has received the order. */
const MUSTER_MS = 300
const ANSWER_WITHIN_MS = 30_000

/** The answers to all processes of a fleet, in ticks of the server's clock and in their order. */
export interface Tally {
  /** The whole second around which the drill ran. */
  readonly strikeAt: number
  readonly admitted: readonly number[]
  readonly refused: readonly number[]
  readonly cached: number
  readonly degraded: number
}

export interface Drill {
  readonly policy: Policy
  /** The drill starts `beforeMs` before a whole second of the clock and ends `afterMs` after it. */
  readonly beforeMs: number
  readonly afterMs: number
  readonly denyCache: boolean
}

export interface Fleet {
  perform(drill: Drill): Promise<Tally>
  stop(): Promise<void>
}

let drills = 0

/** Starts processes that all use one limit at once. */
export async function startFleet(place: Place): Promise<Fleet> {
  const workers = Array.from({ length: PROCESSES }, () => startWorker(place))
  const stop = async () => {
    await Promise.all(workers.map(end))
  }
  try {
    await Promise.all(workers.map(worker => answerOf<string>(worker)))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    async perform({ policy, beforeMs, afterMs, denyCache }) {
      const second = Math.ceil((Date.now() + MUSTER_MS + beforeMs) / 1000) * 1000
      const times = { startAt: second - beforeMs, endAt: second + afterMs }
      const task: Task = { policy, key: `all ${drills++}`, callers: CALLERS, denyCache, ...times }
      const told = await Promise.all(
        workers.map(worker => {
          const answer = answerOf<Told>(worker)
          worker.send(task)
          return answer
        }),
      )
      return tallyOf(second * 1000, told)
    },
    stop,
  }
}

function startWorker(place: Place): ChildProcess {
  return fork(WORKER, [JSON.stringify(place)], {
    execArgv: ['--import', 'tsx', '--conditions=@sluice/source'],
    env: { ...process.env, TSX_TSCONFIG_PATH: TSCONFIG },
    serialization: 'advanced',
  })
}

function answerOf<T>(worker: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`A process of the fleet ${why}`))
    const timer = setTimeout(() => fail(`did not answer within ${ANSWER_WITHIN_MS} ms`), ANSWER_WITHIN_MS)
    const ended = (code: number | null) => {
      clearTimeout(timer)
      fail(`ended with ${code}`)
    }
    worker.once('exit', ended)
    worker.once('message', answer => {
      clearTimeout(timer)
      worker.off('exit', ended)
      resolve(answer as T)
    })
  })
}

async function end(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return
  const gone = new Promise(resolve => worker.once('exit', resolve))
  worker.kill('SIGKILL')
  await gone
}

function tallyOf(strikeAt: number, told: readonly Told[]): Tally {
  const sum = (count: (one: Told) => number) => told.reduce((total, one) => total + count(one), 0)
  const inOrder = (times: (one: Told) => readonly number[]) => told.flatMap(times).sort((a, b) => a - b)
  return {
    strikeAt,
    admitted: inOrder(one => one.admitted),
    refused: inOrder(one => one.refused),
    cached: sum(one => one.cached),
    degraded: sum(one => one.degraded),
  }
}
