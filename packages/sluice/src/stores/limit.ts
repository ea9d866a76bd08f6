/** A store's handle for one limit; what is in it is the store's own business. */
export interface Space {
  readonly path: string
  /** Which part of the limit this process may let through by itself while the store cannot be asked: 0.5 where unsure. */
  readonly localShare: number
}

/** The limit a charge is made against, as far as a store must know it. */
export interface Limit {
  readonly space: Space
  readonly block: BlockRule | undefined
  /** A reservation takes from it at once, as any other call does: it counts requests, not what they use. */
  readonly atOnce: boolean
}

/** How long a refusal blocks, in ticks: `first`, then each time `factor` longer, up to `max`. */
export interface BlockRule {
  readonly first: number
  readonly factor: number
  readonly max: number
}
