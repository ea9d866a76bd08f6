import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { boot, LOOPBACK } from './boot.ts'
import { makeFolder, removeFolder } from './own-process.ts'
import { ask, type Reply } from './resp.ts'

export interface RedisOptions {
  /** By default `redis-server`. */
  program?: string
  port?: number
  /** More of the command line, such as `['--maxmemory', '2mb']`; as a function when it depends on the port. */
  args?: readonly string[] | ((port: number) => readonly string[])
  /** The text of a configuration file, for what must be in one: a sentinel keeps its memory there. */
  config?: string
  /** Besides the environment of this process. */
  env?: Readonly<Record<string, string>>
  /** Listen on a unix socket, too. */
  unixSocket?: boolean
  /** A folder of the caller's, which stays. By default one that goes with the server. */
  dir?: string
}

export interface RedisServer {
  readonly host: string
  readonly port: number
  /** The unix socket, if asked for. */
  readonly path: string | undefined
  readonly pid: number
  /** Running and not paused. */
  readonly isUp: boolean
  /** One command over a connection of its own; bounded at 5 s. An error reply rejects as `RespError`. */
  command(...args: string[]): Promise<Reply>
  /** SIGKILL: connections are reset, what was in memory is gone. */
  kill(): Promise<void>
  /** SIGSTOP: connections stay and are accepted, nothing is answered. */
  pause(): void
  resume(): void
  /** A new process on the same port, whether or not the old one still ran. It starts empty unless data are kept. */
  restart(options?: { keepData?: boolean }): Promise<void>
  stop(): Promise<void>
}

/** Starts a Redis server on loopback, without persistence, and comes back when it answers. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const dir = options.dir ?? makeFolder()
  const path = options.unixSocket ? join(dir, 'redis.sock') : undefined
  const configFile = join(dir, 'redis.conf')
  if (options.config !== undefined) writeFileSync(configFile, options.config)
  const { args = [] } = options
  const argsFor = (port: number) => [
    ...(options.config === undefined ? [] : [configFile]),
    ...['--port', String(port), '--bind', LOOPBACK, '--dir', dir, '--save', '', '--appendonly', 'no'],
    // Without the disk, a replica waits five seconds for company, then calls itself connected up to a second before
    // it gets any writes: a failover in that second would lose them.
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
      // Replication leaves such a file, too.
      if (!keepData) rmSync(join(dir, 'dump.rdb'), { force: true })
      child = (await boot({ ...how, port })).child
    },
    async stop() {
      await child.kill()
      leave()
    },
  }
}
