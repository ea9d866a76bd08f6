/** How a response went. */
export interface ResponseEnd {
  /** 499 if the client left before the server answered. */
  readonly status: number
  /** The client left before the response was sent in full. */
  readonly aborted: boolean
  /** From the decision to the end of the response. */
  readonly ms: number
  /** Of the body, as far as it was sent. */
  readonly bytes: number
}
