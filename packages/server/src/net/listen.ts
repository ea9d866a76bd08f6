import { lstat, unlink } from 'node:fs/promises'
import { connect, type ListenOptions, type Server } from 'node:net'

/** What a new file is denied: all to other users, so that a socket is made with mode 0600. */
const PRIVATE = 0o177

/**
 * Resolves when the server listens; rejects with what is in the way. A unix socket is for the user of this process alone, from
 * its first moment on: it is made under a umask, since with a chmod afterwards others could connect in between.
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
        // Binds before it returns.
        server.listen(where, listening)
      } finally {
        process.umask(umask)
      }
    }
  })
}

/** A process that was killed leaves its socket behind, and nobody could listen there again. One that answers stays. */
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
