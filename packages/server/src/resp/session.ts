/** What a connection has said about itself. */
export class Session {
  readonly id: number
  protocol: 2 | 3 = 2
  name = ''
  isAuthenticated: boolean
  /** Said goodbye: what follows is not carried out. */
  hasQuit = false
  /** The address of the other side; the same for all that come by a unix socket. */
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
