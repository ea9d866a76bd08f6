/** What the load generator is told to do. Frames travel once, with the first order of a contestant. */
export interface LoadOrder {
  readonly kind: string
  readonly port: number
  readonly connections: number
  readonly pipeline: number
  /** Lines in a reply: 6 for five integers, 1 for one. */
  readonly lines: number
  /** Whole pipelines, ready to be sent; empty when they were told before. */
  readonly frames: readonly string[]
  readonly count: number
}

export interface LoadAnswer {
  readonly asked: number
  readonly elapsedMs: number
  readonly admitted: number
  readonly p50Us: number
  readonly p99Us: number
}
