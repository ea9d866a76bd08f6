/** A store's handle for one limit. Only the store reads what is in it. */
export interface Space {
  readonly path: string
  /**
   * The share of the limit that this process may admit by itself while the store is away; 0.5 if the store does not
   * know.
   */
  readonly localShare: number
}

/** What a store must know about the limit that a charge is made against. */
export interface Limit {
  readonly space: Space
  readonly block: BlockRule | undefined
  /** `reserve` takes from it for good, as `consume` does: the limit counts requests, not what they use. */
  readonly atOnce: boolean
}

/** How long a refusal blocks, in ticks: `first`, then `factor` times longer each time, up to `max`. */
export interface BlockRule {
  readonly first: number
  readonly factor: number
  readonly max: number
}
