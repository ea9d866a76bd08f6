/** A connection that can buffer what is written to it, and write it all at once. */
interface Corkable {
  cork(): void
  uncork(): void
}

/** A cluster client of ioredis or iovalkey, with what its types leave out. */
export interface Nodes {
  nodes(role: 'master'): readonly {
    readonly stream?: Corkable | null
    script(subcommand: 'LOAD', script: string): Promise<unknown>
  }[]
}

/**
 * What is sent during `send` leaves in one write for each primary. The client would make one write for every command,
 * which is most of what a small call costs.
 */
export function corked(client: Nodes, send: () => void): void {
  // The present primaries. Writes to a primary that connects during `send` are not buffered.
  const streams = client.nodes('master').map(({ stream }) => stream)
  for (const stream of streams) stream?.cork()
  try {
    send()
  } finally {
    for (const stream of streams) stream?.uncork()
  }
}
