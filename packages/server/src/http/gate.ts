import type { IncomingMessage } from 'node:http'
import { isLoopback, Token } from '../auth.ts'
import { BadRequest } from './exchange.ts'
import type { Right } from './route.ts'

const CHALLENGE = { 'WWW-Authenticate': 'Bearer' }
/** What proxies say of whom they speak for. */
const FORWARDED = /^(forwarded|via|x-forwarded-.*|x-original-.*|x-real-ip|x-client-ip|cf-connecting-ip|true-client-ip)$/

/** Who may call what. */
export class Gate {
  private readonly admin: Token | undefined
  private readonly check: Token | undefined

  constructor({ adminToken, checkToken }: { adminToken: string; checkToken: string }) {
    this.admin = adminToken === '' ? undefined : new Token(adminToken)
    this.check = checkToken === '' ? undefined : new Token(checkToken)
  }

  /** Whether who brings this may check; an operator may, too. */
  checks(authorization: string | undefined): boolean {
    const { check, admin } = this
    return check === undefined || check.opens(authorization) || admin?.opens(authorization) === true
  }

  /** Throws unless who brings this may check. */
  passCheck(authorization: string | undefined): void {
    if (this.checks(authorization)) return
    throw new BadRequest(401, 'expected Authorization: Bearer with the check token', CHALLENGE)
  }

  /** Throws unless the request may. */
  pass(right: Right, request: IncomingMessage): void {
    const { authorization } = request.headers
    if (right === 'check') {
      this.passCheck(authorization)
      return
    }
    if (this.admin?.opens(authorization)) return
    if (this.admin !== undefined) {
      throw new BadRequest(401, 'expected Authorization: Bearer with the admin token', CHALLENGE)
    }
    if (!isFromHere(request)) {
      throw new BadRequest(403, 'operators may call from this machine only: set SLUICE_ADMIN_TOKEN to allow others')
    }
  }
}

/**
 * From a program on this machine: not through a proxy that runs here, nor from a page that a browser here has open, be it
 * under a name that leads here. nginx as it comes says nothing of itself, but speaks HTTP/1.0.
 */
function isFromHere({ headers, socket, httpVersion }: IncomingMessage): boolean {
  const host = headers.host?.replace(/:\d+$/, '')
  const named = host === 'localhost' || host === '[::1]' || isLoopback(host)
  const sameOrigin = headers.origin === undefined || headers.origin === `http://${headers.host}`
  const direct = httpVersion !== '1.0' && !Object.keys(headers).some(name => FORWARDED.test(name))
  return isLoopback(socket.remoteAddress) && named && sameOrigin && direct
}
