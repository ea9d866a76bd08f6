/** What a client has set for its connection. */
export class Session {
  readonly id: number
  protocol: 2 | 3 = 2
  name = ''
  isAuthenticated: boolean
  /** The client has sent QUIT, or must go: later commands are not carried out. */
  hasQuit = false
  /** The address of the client; all clients on a unix socket share one. */
  readonly address: string
  wrongPasswords = 0
  private readonly needsPassword: boolean

  constructor(id: number, needsPassword: boolean, address = 'unix socket') {
    this.id = id
    this.address = address
    this.needsPassword = needsPassword
    this.isAuthenticated = !needsPassword
  }

  reset(): void {
    this.protocol = 2
    this.name = ''
    this.isAuthenticated = !this.needsPassword
  }
}
