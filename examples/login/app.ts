import express, { type Request, type Response } from 'express'
import type { Clock } from 'sluice'
import { rateLimit } from 'sluice/express'
import { loginLimits } from 'sluice/http'

export function createApp(settings: { clock?: Clock } = {}) {
  const app = express()
  // The limits read the user name from the body, so the body must be parsed before they run.
  app.use(express.json())
  app.post('/login', rateLimit({ ...settings, trustProxy: ['127.0.0.1'], limits: loginLimits() }), login)
  return app
}

/** A real service keeps hashes, and compares them in constant time. */
const PASSWORDS: Readonly<Record<string, string>> = { alice: 'a horse, correctly stapled' }

/** A 401 counts as a failure. A success clears the failures of this address and name. */
function login({ body }: Request, response: Response): void {
  const { username, password } = body ?? {}
  if (typeof username !== 'string' || typeof password !== 'string') response.sendStatus(400)
  else response.sendStatus(Object.hasOwn(PASSWORDS, username) && PASSWORDS[username] === password ? 204 : 401)
}
