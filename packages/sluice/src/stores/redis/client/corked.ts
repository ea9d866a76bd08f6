/** A connection that can keep what is written to it, and write it all at once. */
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
 * What is sent meanwhile leaves in one write for each primary. The client would make one of every command, and that is
 * most of what a small call costs the machine.
 */
export function corked(client: Nodes, send: () => void): void {
  // Those of now: one that connects anew while we send gets what is sent to it without waiting.
  const streams = client.nodes('master').map(({ stream }) => stream)
  for (const stream of streams) stream?.cork()
  try {
    send()
  } finally {
    for (const stream of streams) stream?.uncork()
  }
}
