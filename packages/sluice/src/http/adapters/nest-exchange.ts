import type { ExecutionContext } from '@nestjs/common'
import { expected } from '../../errors.ts'
import type { Reader } from '../request/request-facts.ts'
import { type NodeRequest, type NodeResponse, nodeReader } from './node-exchange.ts'
import { ownTrust } from './own-trust.ts'
import type { HeaderResponse } from './set-fields.ts'

/** The parts that requests of Express and Fastify have in common. */
export interface NestRequest extends NodeRequest {
  readonly originalUrl?: string
  readonly hostname?: string
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly route?: { readonly path?: unknown }
  readonly routeOptions?: { readonly url?: string }
  /** The application, if the platform is Express. */
  readonly app?: { get?(setting: string): unknown }
}

export interface NestResponse extends HeaderResponse {
  readonly raw?: NodeResponse
}

/** A client of a gateway: of `ws`, or of Socket.IO, which has the request that opened the connection. */
interface GatewayClient {
  once(event: string, listener: () => void): unknown
  off(event: string, listener: () => void): unknown
  readonly request?: NodeRequest
  readonly upgradeReq?: NodeRequest
  readonly _socket?: NonNullable<NodeRequest['socket']>
}

/** The parts of a GraphQL context of Apollo on Express, of Mercurius, or of a subscription over graphql-ws. */
interface GraphqlContext {
  readonly req?: NestRequest & { readonly res?: NestResponse }
  readonly res?: NestResponse
  readonly request?: NestRequest
  readonly reply?: NestResponse & { readonly request?: NestRequest }
  readonly extra?: { readonly request?: NestRequest }
}

/** The request that a handler of Nest serves, and the response to write to, for every kind of handler. */
export interface NestExchange {
  readonly kind: 'http' | 'graphql' | 'ws'
  readonly request: NestRequest
  /** Undefined for a message or a subscription, which have no HTTP response. */
  readonly response: NestResponse | undefined
  readonly reader: Reader<NestRequest, NestResponse | undefined>
}

const httpReader: Reader<NestRequest, NestResponse | undefined> = {
  ...nodeReader,
  target: request => request.originalUrl ?? request.url ?? '/',
  route: ({ routeOptions, route }) => routeOptions?.url ?? (route?.path === undefined ? undefined : String(route.path)),
  onClose: (response, callback) => nodeReader.onClose(nodeResponse(response!), callback),
  ownTrust: ({ app }) => ownTrust("Express' trust proxy", app?.get?.('trust proxy')),
}

export function nodeResponse(response: NestResponse): NodeResponse {
  return response.raw ?? (response as unknown as NodeResponse)
}

export function exchangeOf(context: ExecutionContext): NestExchange {
  switch (context.getType<string>()) {
    case 'http': {
      const http = context.switchToHttp()
      return { kind: 'http', request: http.getRequest(), response: http.getResponse(), reader: httpReader }
    }
    case 'graphql':
      return graphqlExchange(context)
    case 'ws':
      return gatewayExchange(context)
    default:
      throw unsupported(context, 'a handler of HTTP, GraphQL or a WebSocket gateway, or one with @SkipRateLimit()')
  }
}

/** A resolver gets the parent, its arguments, the context and the description of the field. Each field is counted. */
function graphqlExchange(context: ExecutionContext): NestExchange {
  const [, , found = {}, info] =
    context.getArgs<[unknown, unknown, GraphqlContext | undefined, FieldInfo | undefined]>()
  const request = found.req ?? found.request ?? found.reply?.request ?? found.extra?.request
  const response = found.res ?? found.reply ?? found.req?.res
  if (request?.headers === undefined) {
    throw unsupported(context, 'a GraphQL context with the request, such as ({ req, res }) => ({ req, res })')
  }
  const field = info === undefined ? undefined : `${info.parentType?.name ?? ''}.${info.fieldName ?? ''}`
  return { kind: 'graphql', request, response, reader: { ...httpReader, route: () => field } }
}

interface FieldInfo {
  readonly fieldName?: string
  readonly parentType?: { readonly name?: string }
}

/** The client of a message is that of the request that opened the connection, or else the peer of its socket. */
function gatewayExchange(context: ExecutionContext): NestExchange {
  const client = context.switchToWs().getClient<GatewayClient>()
  const pattern: unknown = context.switchToWs().getPattern()
  const request = client.request ?? client.upgradeReq ?? { headers: {}, socket: client._socket ?? null }
  const reader: NestExchange['reader'] = {
    ...httpReader,
    route: () => (typeof pattern === 'string' ? pattern : context.getHandler().name),
    onClose(_, callback) {
      for (const event of ['close', 'disconnect']) client.once(event, callback)
      return () => {
        for (const event of ['close', 'disconnect']) client.off(event, callback)
      }
    },
  }
  return { kind: 'ws', request, response: undefined, reader }
}

export function unsupported(context: ExecutionContext, what: string): Error {
  const handler = `${context.getClass().name}.${context.getHandler().name}`
  return expected('SLUICE_NOT_SUPPORTED', `${handler} to be ${what}`, `a ${context.getType()} context`)
}
