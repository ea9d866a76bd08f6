import { lstat, unlink } from 'node:fs/promises'
import { connect, type ListenOptions, type Server } from 'node:net'

/** The umask that gives a new socket mode 0600, so that other users have no access. */
const PRIVATE = 0o177

/**
 * Resolves when the server listens; rejects if it cannot. Only the user of this process may connect to a unix socket. It is
 * made under a umask, because others could connect between its creation and a chmod.
 */
export async function listen(server: Server, where: ListenOptions): Promise<void> {
  if (where.path !== undefined) await clearAway(where.path)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    const listening = () => {
      server.off('error', reject)
      resolve()
    }
    if (where.path === undefined) server.listen(where, listening)
    else {
      const umask = process.umask(PRIVATE)
      try {
        // `listen` binds before it returns, so the umask applies.
        server.listen(where, listening)
      } finally {
        process.umask(umask)
      }
    }
  })
}

/** Removes the socket that a killed process has left, which would be in the way. A socket that answers stays. */
async function clearAway(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found?.isSocket() && !(await answers(path))) await unlink(path)
}

function answers(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'))
  })
}
