import { isIP } from 'node:net'
import { BadRequest } from './http-answer.ts'
import { isLoopback, Token } from './token.ts'

/**
 * The right that a call needs. `check` and `decide` need the check token if one is set; `admin` needs the admin token. If a
 * browser on this machine may have sent a `page` or `check` call, it must come from this service's own pages.
 */
export type Right = 'page' | 'decide' | 'check' | 'admin'

/** The parts of a request that decide about its rights. */
export interface Caller {
  readonly authorization: string | undefined
  readonly host: string | undefined
  readonly origin: string | undefined
  /** The address at the other end of the connection. */
  readonly peer: string | undefined
}

export interface Authorizer {
  /** Throws `BadRequest` unless the caller has the right. */
  pass(right: Right, caller: Caller): void
}

export interface AuthorizerOptions {
  readonly adminToken: string
  readonly checkToken: string
  /** The host names of this service, separated by commas. */
  readonly hosts: string
}

const CHALLENGE = { 'WWW-Authenticate': 'Bearer' }
const OPERATORS =
  'operators need a token: set SLUICE_ADMIN_TOKEN, or set SLUICE_ADMIN_SOCKET and use sluice modes, reset and block'
const HOST = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/

/** Only the user who runs the service can open its admin socket, so every call through it has every right. */
export const socketAuthorizer: Authorizer = { pass: () => {} }

/**
 * Checks calls to the ports. An address proves nothing here: behind a proxy on this machine every call comes from loopback,
 * so operators need a token. A connection from loopback may also come from a browser that shows a foreign page.
 */
export class TokenAuthorizer implements Authorizer {
  private readonly admin: Token | undefined
  private readonly check: Token | undefined
  private readonly hosts: ReadonlySet<string>

  constructor({ adminToken, checkToken, hosts }: AuthorizerOptions) {
    this.admin = adminToken === '' ? undefined : new Token(adminToken)
    this.check = checkToken === '' ? undefined : new Token(checkToken)
    this.hosts = new Set(['localhost', ...hosts.toLowerCase().split(',')])
  }

  /** Whether this token may check; the admin token may, too. */
  checks(authorization: string | undefined): boolean {
    return this.check === undefined || this.check.opens(authorization) || this.operates(authorization)
  }

  pass(right: Right, caller: Caller): void {
    const { authorization } = caller
    if (right === 'admin') {
      if (this.admin === undefined) throw new BadRequest(403, OPERATORS)
      if (!this.operates(authorization)) throw unauthorized('admin')
    } else {
      if (right !== 'page' && !this.checks(authorization)) throw unauthorized('check')
      if (right !== 'decide' && !this.operates(authorization)) this.passSite(caller)
    }
  }

  private operates(authorization: string | undefined): boolean {
    return authorization !== undefined && this.admin?.opens(authorization) === true
  }

  /**
   * Without a check token, a page of another site must not check through a browser on this machine: neither by sending a
   * request here (its `Origin` is another), nor by a name of its own that leads here (DNS rebinding: its `Host` is another).
   */
  private passSite({ host, origin, peer }: Caller): void {
    if (this.check !== undefined || !isLoopback(peer)) return
    if (host !== undefined && !this.isOwn(host)) {
      throw new BadRequest(403, 'expected Host as an address, localhost or a name from --hosts (SLUICE_HOSTS)')
    }
    if (origin !== undefined && !isOriginOf(host, origin)) {
      throw new BadRequest(403, 'expected no Origin, or that of this service: pages of other sites may not call it')
    }
  }

  private isOwn(host: string): boolean {
    const [, v6, name = ''] = HOST.exec(host) ?? []
    return v6 === undefined ? isIP(name) === 4 || this.hosts.has(name.toLowerCase()) : isIP(v6) === 6
  }
}

/** A proxy in front may speak TLS. */
function isOriginOf(host: string | undefined, origin: string): boolean {
  return host !== undefined && /^https?:\/\/(.*)$/.exec(origin)?.[1]?.toLowerCase() === host.toLowerCase()
}

function unauthorized(token: 'admin' | 'check'): BadRequest {
  return new BadRequest(401, `expected Authorization: Bearer with the ${token} token`, CHALLENGE)
}
