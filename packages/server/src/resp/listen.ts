import { lstat, unlink } from 'node:fs/promises'
import { connect, type ListenOptions, type Server } from 'node:net'

/** Resolves when the server listens; rejects with what is in the way. */
export async function listen(server: Server, where: ListenOptions): Promise<void> {
  if (where.path !== undefined) await clearAway(where.path)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
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
