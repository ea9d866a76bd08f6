import type { ChildProcess } from 'node:child_process'
import { nextMessage, startBeside } from '../child.ts'
import type { Contestant } from '../entrant.ts'

/** The orders a process of a crew receives, one at a time. */
export type Order =
  | { readonly what: 'prepare' }
  | { readonly what: 'warm up'; readonly forMs: number }
  | { readonly what: 'decide'; readonly count: number }

/** A process's figures for the decisions of one order. */
export interface Slice {
  readonly admitted: number
  readonly clientUs: number
  readonly p50Us: number
  readonly p99Us: number
  readonly remark: string
}

export interface Address {
  readonly host: string
  readonly port: number
}

/** Processes with the same code differ, so each contestant has several, which take turns. */
const PROCESSES = 3
/** The length of the warm-up in slices: long enough for the optimising compiler. */
const WARM_UP = 10
/**
 * The length of the run-up before each timed slice, in slices. An idle process has cold caches and a small young
 * generation; a server under load is never idle, so each process runs for a while before it is timed.
 */
const RUN_UP = 0.5

/**
 * A contestant in processes of its own, as it would run in production. The engine's optimisations for one library, and
 * the garbage of one, must not slow another.
 */
export class Crew implements Contestant {
  readonly name: string
  readonly ways = { 'an await each': (count: number) => this.decide(count) }
  private readonly processes: readonly ChildProcess[]
  private readonly sliceMs: number
  private readonly onSlice: (slice: Slice) => void
  /** Counts the slices, to choose the process whose turn it is. */
  private turn = 0
  /** The last remark of each process. */
  private readonly remarks: string[] = []

  private constructor(name: string, processes: readonly ChildProcess[], sliceMs: number, onSlice: Crew['onSlice']) {
    this.name = name
    this.processes = processes
    this.sliceMs = sliceMs
    this.onSlice = onSlice
  }

  /** `number` is the contestant's position in its case. */
  static async start(
    title: string,
    number: number,
    servers: readonly Address[],
    sliceMs: number,
    onSlice: (slice: Slice) => void,
  ): Promise<Crew> {
    const addresses = JSON.stringify(servers.map(({ host, port }) => ({ host, port })))
    const processes = Array.from({ length: PROCESSES }, () =>
      startBeside(import.meta.url, './crew-process', [title, String(number), addresses]),
    )
    try {
      const [name] = await Promise.all(processes.map(one => nextMessage<string>(one)))
      return new Crew(name!, processes, sliceMs, onSlice)
    } catch (error) {
      for (const one of processes) one.kill()
      throw error
    }
  }

  /** All processes use the same keys, so one process fills them. */
  async prepare(): Promise<void> {
    await obey(this.processes[0]!, { what: 'prepare' })
    for (const one of this.processes) await obey(one, { what: 'warm up', forMs: WARM_UP * this.sliceMs })
  }

  async getReady(): Promise<void> {
    await obey(this.next, { what: 'warm up', forMs: RUN_UP * this.sliceMs })
  }

  remark(): string {
    return this.remarks.join('')
  }

  stop(): void {
    for (const one of this.processes) one.kill()
  }

  private async decide(count: number): Promise<number> {
    const slice = await obey<Slice>(this.next, { what: 'decide', count })
    this.remarks[this.turn] = slice.remark
    this.onSlice(slice)
    this.turn = (this.turn + 1) % PROCESSES
    return slice.admitted
  }

  private get next(): ChildProcess {
    return this.processes[this.turn]!
  }
}

function obey<T>(one: ChildProcess, order: Order): Promise<T> {
  const answer = nextMessage<T>(one)
  one.send(order)
  return answer
}
