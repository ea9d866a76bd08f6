import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { boot, LOOPBACK } from './boot.ts'
import { makeFolder, removeFolder } from './own-process.ts'
import { ask, type Reply } from './resp.ts'

export interface RedisOptions {
  /** By default `redis-server`. */
  program?: string
  port?: number
  /** Further arguments, such as `['--maxmemory', '2mb']`, or a function of the port that returns them. */
  args?: readonly string[] | ((port: number) => readonly string[])
  /** The text of a configuration file. A sentinel needs one, since it saves its state there. */
  config?: string
  /** Variables to add to the environment of this process. */
  env?: Readonly<Record<string, string>>
  /** Whether to listen on a unix socket, too. */
  unixSocket?: boolean
  /** The caller's folder, which stays. By default the server has a folder of its own, which is removed with it. */
  dir?: string
}

export interface RedisServer {
  readonly host: string
  readonly port: number
  /** The unix socket, if asked for. */
  readonly path: string | undefined
  readonly pid: number
  /** Whether it runs and is not paused. */
  readonly isUp: boolean
  /** Sends one command over a new connection, for at most 5 s. An error reply rejects as `RespError`. */
  command(...args: string[]): Promise<Reply>
  /** Sends SIGKILL: connections are reset, and the data in memory is lost. */
  kill(): Promise<void>
  /** Sends SIGSTOP: connections stay, new ones are accepted, and no command is answered. */
  pause(): void
  resume(): void
  /** Starts a new process on the same port and ends the old one if it runs. It starts empty unless `keepData`. */
  restart(options?: { keepData?: boolean }): Promise<void>
  stop(): Promise<void>
}

/** Starts a Redis server on loopback, without persistence, and resolves when it answers. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const dir = options.dir ?? makeFolder()
  const path = options.unixSocket ? join(dir, 'redis.sock') : undefined
  const configFile = join(dir, 'redis.conf')
  if (options.config !== undefined) writeFileSync(configFile, options.config)
  const { args = [] } = options
  const argsFor = (port: number) => [
    ...(options.config === undefined ? [] : [configFile]),
    ...['--port', String(port), '--bind', LOOPBACK, '--dir', dir, '--save', '', '--appendonly', 'no'],
    // In a diskless sync the primary waits five seconds for more replicas, and then a replica reports itself connected
    // up to a second before it gets any writes: a failover in that second would lose them.
    ...['--repl-diskless-sync', 'no'],
    ...(path === undefined ? [] : ['--unixsocket', path]),
    ...(typeof args === 'function' ? args(port) : args),
  ]
  const leave = () => {
    if (options.dir === undefined) removeFolder(dir)
  }
  const how = { program: options.program ?? 'redis-server', dir, argsFor, env: options.env }
  const first = await boot({ ...how, port: options.port }).catch(error => {
    leave()
    throw error
  })
  const { port } = first
  let { child } = first
  let isPaused = false

  const command = (...words: string[]) => ask({ host: LOOPBACK, port }, words)
  return {
    host: LOOPBACK,
    port,
    path,
    get pid() {
      return child.pid
    },
    get isUp() {
      return child.isRunning && !isPaused
    },
    command,
    kill: () => child.kill(),
    pause() {
      isPaused = true
      child.signal('SIGSTOP')
    },
    resume() {
      isPaused = false
      child.signal('SIGCONT')
    },
    async restart({ keepData = false } = {}) {
      if (keepData && child.isRunning) await command('SAVE')
      await child.kill()
      isPaused = false
      // Replication writes this file, too.
      if (!keepData) rmSync(join(dir, 'dump.rdb'), { force: true })
      child = (await boot({ ...how, port })).child
    },
    async stop() {
      await child.kill()
      leave()
    },
  }
}
