import cluster, { type Worker } from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { type LimitMode, SluiceError } from 'sluice'
import { type Decider, type OperatorCommands, withOperations } from '../decider/decider.ts'
import { answerAll, type CallTarget, type RemoteCalls, type RemoteResults } from '../decider/wire.ts'
import type { Counts, Readings } from '../metrics/metrics.ts'
import { Metrics } from '../metrics/metrics.ts'
import type { ServiceSettings } from '../settings.ts'
import { openAdminSocket, type Ports } from './doors.ts'
import type { Engine } from './engine.ts'
import type { Log } from './log.ts'
import type { RulesFiles } from './rules-files.ts'
import { backgroundOf, openEngine, type Service, servedBy } from './service.ts'

/** A worker's message: calls to the owner of the state, its counts, an operator's change, or the ports of its open doors. */
export type FromWorker = RemoteCalls | { readonly counts: Counts } | SetMode | { readonly ports: Ports }
export type ToWorker =
  | { readonly answers: RemoteResults }
  | SetMode
  | { readonly command: 'drain' | 'close' | 'reload' }
/** The mode that an operator has set for a limit. It holds until the rules are loaded again. */
export interface SetMode {
  readonly limit: string
  readonly mode: LimitMode
}

/** Applies a mode that an operator has set in another process. */
export function setModeIn(decider: Decider, { limit, mode }: SetMode): void {
  try {
    void decider.operations.setMode(limit, mode)
  } catch {
    // The rules of this process may be newer and lack the limit.
  }
}

/** A worker that ends by itself is replaced, with a longer pause if it ends again before its replacement is open. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

/**
 * Starts several workers that speak the protocols. State in memory belongs to this process, which decides for all workers.
 * Over a shared store each worker decides by itself.
 */
export async function startWorkers(settings: ServiceSettings, count: number, log: Log): Promise<Service> {
  const supervisor = new Supervisor(settings, log)
  return supervisor.start(count)
}

/** The service cannot start. The worker has already logged why. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed'
}

class Supervisor {
  private readonly settings: ServiceSettings
  private readonly log: Log
  private readonly metrics: Metrics
  private readonly engine: Engine
  private readonly owner: CallTarget & { close(): Promise<void>; reload(): boolean }
  private readonly workers = new Set<Worker>()
  private readonly keeper: RulesFiles
  /** The modes that operators have set, by limit. They hold only for the rules `modesUnder`: new rules set their own. */
  private readonly modes = new Map<string, SetMode>()
  private modesUnder: unknown
  private pauseMs = FIRST_PAUSE_MS
  /** True from when all doors are open until they close. Workers that end in between are replaced. */
  private isServing = false

  constructor(settings: ServiceSettings, log: Log) {
    // Processes share the secret, since any of them may open a reservation id that another has sealed.
    this.settings = { ...settings, secret: settings.secret || randomBytes(32).toString('hex') }
    this.log = log
    const { engine, keeper } = openEngine(this.settings, log)
    this.keeper = keeper
    this.engine = engine
    this.metrics = engine.isShared ? new Metrics() : engine.metrics
    this.owner = {
      decider: engine.decider,
      metrics: (readings?: Readings) => (readings === undefined ? engine.metricsText() : this.metrics.text(readings)),
      reload: () => keeper.reload(),
      async close() {
        keeper.stop()
        await engine.close()
      },
    }
  }

  async start(count: number): Promise<Service> {
    cluster.setupPrimary({ serialization: 'advanced' })
    const { secret, adminToken } = this.settings
    const environment = { SLUICE_SECRET: secret, SLUICE_ADMIN_TOKEN: adminToken }
    const socket = await this.openSocket()
    const opened = await this.openAll(count, environment).catch(async error => {
      await Promise.all([socket.close(), this.owner.close()])
      throw error
    })
    this.isServing = true
    return {
      ports: opened[0]!,
      served: servedBy(this.keeper, this.settings),
      reload: () => {
        this.tell({ command: 'reload' })
        return this.owner.reload()
      },
      drain: () => this.tell({ command: 'drain' }),
      close: async () => void (await Promise.all([this.close(), socket.close()])),
    }
  }

  /** This process owns the admin socket: it outlives workers, and its changes reach all of them. */
  private async openSocket(): Promise<{ close(): Promise<void> }> {
    const { engine } = this
    const text = () => this.metrics.text(engine.readings())
    const background = backgroundOf(this.log, this.keeper, this.metrics, text)
    try {
      return await openAdminSocket(this.settings, engine.isShared ? this.operators() : engine.decider, background)
    } catch (error) {
      await this.owner.close()
      throw error
    }
  }

  /** Over a shared store each worker decides by itself, so an operator's change is sent to all of them. */
  private operators(): Decider {
    const { decider } = this.engine
    const setMode: OperatorCommands['setMode'] = (limit, mode) => {
      decider.operations.setMode(limit, mode)
      this.remember({ limit, mode })
    }
    const shadows = () => {
      throw new SluiceError(
        'SLUICE_NOT_SUPPORTED',
        'shadows cannot be listed here: over a shared store each worker counts the shadows of what it decided; see /metrics',
      )
    }
    return withOperations(decider, { setMode, shadows })
  }

  /** If one worker cannot open its doors, none of them can. That worker has logged why. */
  private async openAll(count: number, environment: Record<string, string>): Promise<Ports[]> {
    try {
      return await Promise.all(Array.from({ length: count }, () => this.fork(environment)))
    } catch (error) {
      for (const worker of this.workers) worker.process.kill()
      throw error
    }
  }

  /** Resolves when the worker's doors are open. */
  private fork(environment: Record<string, string>): Promise<Ports> {
    return new Promise((resolve, reject) => {
      const worker = cluster.fork(environment)
      this.workers.add(worker)
      worker.on('message', (message: FromWorker) => {
        if ('asked' in message) this.answer(worker, message)
        else if ('counts' in message) this.metrics.merge(message.counts)
        else if ('mode' in message) {
          this.remember(message, worker)
          setModeIn(this.engine.decider, message)
        } else {
          for (const mode of this.currentModes().values()) worker.send(mode)
          this.pauseMs = FIRST_PAUSE_MS
          resolve(message.ports)
        }
      })
      worker.once('exit', code => {
        this.workers.delete(worker)
        reject(new WorkerFailed(`a worker ended with code ${code} before its doors were open`))
        if (this.isServing) this.replace(environment, code)
      })
    })
  }

  private replace(environment: Record<string, string>, code: number): void {
    this.log.warn(`a worker ended with code ${code}`, { anotherInMs: this.pauseMs })
    setTimeout(() => {
      if (!this.isServing) return
      this.fork(environment).then(
        () => this.log.info('a new worker has replaced it'),
        () => {}, // the new worker has ended, too; its 'exit' starts the next one
      )
    }, this.pauseMs)
    this.pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * this.pauseMs)
  }

  private answer(worker: Worker, { asked }: RemoteCalls): void {
    const send = (answers: RemoteResults) => {
      if (worker.isConnected()) worker.send({ answers } satisfies ToWorker)
    }
    const answers = answerAll(this.owner, asked)
    if (answers instanceof Promise) void answers.then(send)
    else send(answers)
  }

  /** Sends changes on in the order of arrival here, so that all workers end up with the same modes. */
  private remember(mode: SetMode, from?: Worker): void {
    this.currentModes().set(mode.limit, mode)
    this.tell(mode, from)
  }

  /** The modes to send to workers that start later. */
  private currentModes(): Map<string, SetMode> {
    const { own } = this.keeper.current
    if (own !== this.modesUnder) this.modes.clear()
    this.modesUnder = own
    return this.modes
  }

  private tell(message: ToWorker, except?: Worker): void {
    for (const worker of this.workers) if (worker !== except && worker.isConnected()) worker.send(message)
  }

  private async close(): Promise<void> {
    this.isServing = false
    const ended = [...this.workers].map(worker => new Promise<void>(resolve => worker.once('exit', () => resolve())))
    this.tell({ command: 'close' })
    await Promise.all(ended)
    await this.owner.close()
  }
}
