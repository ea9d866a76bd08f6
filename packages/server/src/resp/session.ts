/** What a connection has said about itself. */
export class Session {
  readonly id: number
  protocol: 2 | 3 = 2
  name = ''
  isAuthenticated: boolean
  /** Said goodbye: what follows is not carried out. */
  hasQuit = false
  private readonly needsPassword: boolean

  constructor(id: number, needsPassword: boolean) {
    this.id = id
    this.needsPassword = needsPassword
    this.isAuthenticated = !needsPassword
  }

  reset(): void {
    this.protocol = 2
    this.name = ''
    this.isAuthenticated = !this.needsPassword
  }
}
