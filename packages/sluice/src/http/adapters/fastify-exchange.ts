import type { Reader } from '../request/request-facts.ts'
import { configOf, type Routed } from './fastify-route.ts'
import { type NodeRequest, type NodeResponse, nodeReader } from './node-exchange.ts'
import type { HeaderResponse } from './set-fields.ts'

/** The parts of a Fastify request, reply and instance that this adapter uses. */
export interface FastifyRequestShape extends Routed {
  readonly raw: NodeRequest
  readonly method: string
  readonly originalUrl: string
}
export interface FastifyReplyShape extends HeaderResponse {
  readonly raw: NodeResponse
  code(status: number): unknown
  send(body: string): unknown
  removeHeader(name: string): unknown
}
export interface FastifyInstanceShape {
  // biome-ignore lint/suspicious/noExplicitAny: the hooks of Fastify have one signature each, told apart by their names.
  addHook(name: any, hook: any): unknown
  decorate(name: string | symbol, value: unknown): unknown
  hasDecorator(name: string | symbol): boolean
  decorateRequest(name: string, property: { getter(this: object): unknown }): unknown
  hasRequestDecorator(name: string): boolean
}
/** A request hook. A `preParsing` hook gets the payload between reply and callback. */
export type RequestHook = (
  request: FastifyRequestShape,
  reply: FastifyReplyShape,
  third: unknown,
  fourth?: unknown,
) => void

export const fastifyReader: Reader<FastifyRequestShape, FastifyReplyShape> = {
  method: request => request.method,
  target: request => request.originalUrl,
  header: (request, name) => nodeReader.header(request.raw, name),
  has: (request, name) => nodeReader.has!(request.raw, name),
  peer: request => nodeReader.peer(request.raw),
  route: request => configOf(request).url,
  onClose: (reply, callback) => nodeReader.onClose(reply.raw, callback),
}
