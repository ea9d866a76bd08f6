import { renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { type RequestOptions, request } from 'node:https'
import { connect as connectPlainly } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { credentials } from '@grpc/grpc-js'
import { until } from 'sluice-harness'
import { describe, expect, test } from 'vitest'
import { served } from '../fixtures/http/served.ts'
import { serve } from '../fixtures/process.ts'
import { ownCertificate } from '../fixtures/rls/certificate.ts'
import { call, clientOf } from '../fixtures/rls/client.ts'
import { folderOf, rulesFile } from '../fixtures/rules-file.ts'

const RULES = 'limits: { per-user: { key: user, sliding-log: 100/1h } }'
const ENVOY = 'domain: edge\ndescriptors: [{ key: user, rate_limit: { unit: hour, requests_per_unit: 100 } }]'
const [own, next, client, stranger] = [ownCertificate(), ownCertificate(), ownCertificate(), ownCertificate()]

function files() {
  const folder = folderOf({ 'cert.pem': own.cert, 'key.pem': own.key, 'ca.pem': client.cert })
  const path = (name: string) => join(folder, name)
  return {
    flags: { envoy: rulesFile(ENVOY), 'tls-cert': path('cert.pem'), 'tls-key': path('key.pem'), 'http-tls': 'on' },
    ca: { 'tls-client-ca': path('ca.pem') },
    /** As whoever renews certificates does it: a new file in the place of the old. */
    put(name: string, bytes: Buffer | string) {
      writeFileSync(path(`new-${name}`), bytes)
      renameSync(path(`new-${name}`), path(name))
    },
  }
}

/** The status of a check over HTTPS, or the code of the error. */
function check(port: number, options: RequestOptions): Promise<number | string> {
  return new Promise(resolve => {
    const target = { host: '127.0.0.1', servername: 'localhost', port, method: 'POST', path: '/v1/check', agent: false }
    const sent = request({ ...target, ...options }, response => {
      response.resume()
      resolve(response.statusCode!)
    })
    sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.end('{"user":"42"}')
  })
}

/** The certificate that a port shows. */
function shownAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      { port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] },
      () => {
        resolve(socket.getPeerX509Certificate()!.fingerprint256)
        socket.destroy()
      },
    )
    socket.once('error', reject)
  })
}

const prints = async (ports: { http: number; grpc: number }) => [await shownAt(ports.http), await shownAt(ports.grpc)]

describe('clients', () => {
  test('need no certificate without --tls-client-ca', async () => {
    const { ports } = await served(RULES, files().flags)
    expect(await check(ports.http, { ca: own.cert })).toBe(200)
  })

  test('are served over HTTP only with a certificate of that authority', async () => {
    const { flags, ca } = files()
    const { ports } = await served(RULES, { ...flags, ...ca })
    expect(await check(ports.http, { ca: own.cert, ...client })).toBe(200)
    expect(await check(ports.http, { ca: own.cert })).not.toBe(200)
    expect(await check(ports.http, { ca: own.cert, ...stranger })).not.toBe(200)
  })

  test('are served over gRPC only with a certificate of that authority', async () => {
    const { flags, ca } = files()
    const { ports } = await served(RULES, { ...flags, ...ca })
    const asked = (pair?: typeof client) => {
      const secure = credentials.createSsl(own.cert, pair?.key ?? null, pair?.cert ?? null)
      return call(clientOf({ port: ports.grpc }, secure, { 'grpc.ssl_target_name_override': 'localhost' }))
    }
    expect(await asked(client)).toMatchObject({ overallCode: 1 })
    expect(await asked()).toMatch(/UNAVAILABLE/)
    expect(await asked(stranger)).toMatch(/UNAVAILABLE/)
  })
})

describe('certificates that change', () => {
  test('are shown by both doors without a restart', async () => {
    const { flags, put } = files()
    const { ports, lines } = await served(RULES, flags)
    const before = await prints(ports)
    put('key.pem', next.key)
    put('cert.pem', next.cert)
    await until('the reload', async () => lines.some(line => line.includes('certificates were loaded again')))
    for (const print of await prints(ports)) expect(before).not.toContain(print)
    expect(await check(ports.http, { ca: next.cert })).toBe(200)
  })

  test('are ignored if they cannot be used, and the log says so', async () => {
    const { flags, put } = files()
    const { ports, lines } = await served(RULES, flags)
    const before = await prints(ports)
    put('cert.pem', 'no certificate')
    await until('the warning', async () => lines.some(line => line.includes('certificates cannot be used')))
    expect(await prints(ports)).toEqual(before)
  })

  test.each(['1', '2'])(
    'are read on SIGHUP if no watch could see the change, with %s workers',
    {
      timeout: 60_000,
    },
    async workers => {
      const { flags } = files()
      // A link to a link: what is swapped is the one in the middle.
      const [front, middle] = [folderOf({}), folderOf({})]
      const link = (name: string, bytes: Buffer) => {
        symlinkSync(join(folderOf({ [name]: bytes }), name), join(middle, `new-${name}`))
        renameSync(join(middle, `new-${name}`), join(middle, name))
      }
      link('key.pem', own.key)
      link('cert.pem', own.cert)
      for (const name of ['key.pem', 'cert.pem']) symlinkSync(join(middle, name), join(front, name))
      const linked = { ...flags, 'tls-key': join(front, 'key.pem'), 'tls-cert': join(front, 'cert.pem') }
      const words = Object.entries({ ...linked, workers }).flatMap(([flag, value]) => [`--${flag}`, value])
      const running = await serve([rulesFile(RULES), ...words])
      const before = await prints(running.ports)
      link('key.pem', next.key)
      link('cert.pem', next.cert)
      running.signal('SIGHUP')
      await until('the other certificate', async () =>
        (await prints(running.ports)).every(print => !before.includes(print)),
      )
    },
  )
})

test('a client that never begins TLS does not delay the close', async () => {
  const service = await served(RULES, { ...files().flags, 'drain-ms': '50' })
  const silent = connectPlainly(service.ports.http, '127.0.0.1')
  silent.on('error', () => {})
  await new Promise(resolve => silent.once('connect', resolve))
  const startedAt = performance.now()
  await service.close()
  expect(performance.now() - startedAt).toBeLessThan(4000)
})
