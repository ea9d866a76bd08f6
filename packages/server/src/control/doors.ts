import type { Decider } from '../decider/decider.ts'
import { socketAuthorizer, TokenAuthorizer } from '../http/authorizer.ts'
import { type HttpOptions, startHttp } from '../http/server.ts'
import { Certificates } from '../net/certificates.ts'
import { startResp } from '../resp/server.ts'
import { startGrpc } from '../rls/grpc/grpc-server.ts'
import type { ServiceSettings } from '../settings.ts'

export interface Ports {
  readonly http: number
  readonly grpc: number
  readonly resp: number
}

/** The open doors of the service: one server for each protocol. */
export interface Doors {
  readonly ports: Ports
  /** Adds the counts that doors keep themselves to the metrics. */
  count(): void
  /** Reads the certificates again. */
  reload(): void
  /** All doors go on serving and ask their clients to connect elsewhere. */
  drain(): void
  /** Accepts no more connections, answers open requests, and closes all doors. */
  close(): Promise<void>
}

interface Closable {
  drain(): void
  close(graceMs: number): Promise<void>
}

/** The parts that all doors of a service share. */
export type Background = Pick<HttpOptions, 'metrics' | 'metricsText' | 'site' | 'descriptorList' | 'onError'> & {
  /** Called after certificates were read again, with the error or undefined. */
  readonly onCertificates: (error: unknown) => void
}

export async function openDoors(settings: ServiceSettings, decider: Decider, background: Background): Promise<Doors> {
  const { host, checkToken, drainMs } = settings
  const { onError } = background
  const authorizer = new TokenAuthorizer(settings)
  const all: Closable[] = []
  const opened = <T extends Closable>(door: T): T => {
    all.push(door)
    return door
  }
  const certificates = certificatesOf(settings, background)
  const close = async (graceMs: number) => {
    certificates?.close()
    await Promise.all(all.map(door => door.close(graceMs)))
  }
  try {
    const http = opened(
      await startHttp({
        ...background,
        authorizer,
        where: { host, port: settings.httpPort },
        decider,
        certificates: settings.httpTls === 'on' ? certificates : undefined,
      }),
    )
    const grpc = opened(
      await startGrpc({
        service: {
          shouldRateLimit(request) {
            background.metrics.asked('grpc')
            return decider.descriptors.shouldRateLimit(request)
          },
        },
        host,
        port: settings.grpcPort,
        onError,
        ...(checkToken !== '' && { opens: authorization => authorizer.checks(authorization) }),
        ...(certificates && { tls: certificates.current, onTls: server => certificates.follow(server) }),
      }),
    )
    const password = checkToken === '' ? {} : { password: checkToken }
    const resp = opened(await startResp({ throttle: decider.throttle, host, port: settings.respPort, ...password }))
    return {
      ports: { http: http.port, grpc: grpc.port, resp: resp.port! },
      count: () => background.metrics.resp(resp.stats()),
      reload: () => certificates?.reload(),
      drain() {
        for (const door of all) door.drain()
      },
      close: () => close(drainMs),
    }
  } catch (error) {
    await close(0)
    throw error
  }
}

/** Opens the admin socket, if the settings ask for one. */
export async function openAdminSocket(
  { adminSocket, drainMs }: ServiceSettings,
  decider: Decider,
  background: Background,
): Promise<{ close(): Promise<void> }> {
  if (adminSocket === '') return { close: async () => {} }
  const door = await startHttp({ ...background, authorizer: socketAuthorizer, where: { path: adminSocket }, decider })
  return { close: () => door.close(drainMs) }
}

function certificatesOf({ tlsCert, tlsKey, tlsClientCa }: ServiceSettings, { onCertificates }: Background) {
  if (tlsCert === '') return undefined
  return new Certificates(
    { cert: tlsCert, key: tlsKey, ...(tlsClientCa !== '' && { ca: tlsClientCa }) },
    onCertificates,
  )
}
