/** How a response went. */
export interface ResponseEnd {
  readonly status: number
  /** The client went away first: what was estimated then counts, or hanging up in time would be free. */
  readonly aborted: boolean
  /** From the decision to the end of the response. */
  readonly ms: number
  /** Of the body, as far as it was sent. */
  readonly bytes: number
}
