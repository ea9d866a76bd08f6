import {
  type CanActivate,
  createParamDecorator,
  type DynamicModule,
  type ExecutionContext,
  type FactoryProvider,
  HttpException,
  Inject,
} from '@nestjs/common'
import { guardFrom } from './adapters/guard-from.ts'
import { decorated, isSkipped } from './adapters/nest-decorators.ts'
import { follow, type NodeRequest, type NodeResponse, nodeReader, unlessAnswered } from './adapters/node-exchange.ts'
import { parsedBody } from './adapters/refused-error.ts'
import { type HeaderResponse, setFields } from './adapters/set-fields.ts'
import { decisionOf } from './guard/decision-of.ts'
import type { Guard } from './guard/guard.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { Outcome } from './guard/outcome.ts'
import type { Reader, RequestView } from './request/request-facts.ts'

export { Cost, RateLimit, SkipRateLimit } from './adapters/nest-decorators.ts'
export type { GuardOptions } from './guard/guard-options.ts'
export type { Route } from './guard/route-options.ts'
export { decisionOf }

/** What requests of Express and Fastify have in common. */
export interface NestRequest extends NodeRequest {
  readonly originalUrl?: string
  readonly hostname?: string
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly route?: { readonly path?: unknown }
  readonly routeOptions?: { readonly url?: string }
}
/** What functions in the options are handed. */
export type NestView = RequestView<NestRequest>

interface NestResponse extends HeaderResponse {
  readonly raw?: NodeResponse
}

const reader: Reader<NestRequest, NestResponse> = {
  ...nodeReader,
  target: request => request.originalUrl ?? request.url ?? '/',
  route: ({ routeOptions, route }) => routeOptions?.url ?? (route?.path === undefined ? undefined : String(route.path)),
  onClose: (response, callback) => nodeReader.onClose(nodeResponse(response), callback),
}

function nodeResponse(response: NestResponse): NodeResponse {
  return response.raw ?? (response as unknown as NodeResponse)
}

const ASKED = Symbol.for('sluice.nest-asked')

/** The guards that have decided on a request, whichever build of the package they are of. */
const registry = globalThis as { [ASKED]?: WeakMap<NestRequest, readonly Guard[]> }
registry[ASKED] ??= new WeakMap()
const asked = registry[ASKED]

/** Limits HTTP handlers. A refusal is an `HttpException`, so that exception filters see it. */
export class RateLimitGuard implements CanActivate {
  readonly guard: Guard

  constructor(options: GuardOptions<NestView> | Guard) {
    this.guard = guardFrom(options)
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http' || isSkipped(context)) return true
    const http = context.switchToHttp()
    const [request, response] = [http.getRequest<NestRequest>(), http.getResponse<NestResponse>()]
    const before = asked.get(request) ?? []
    // With both the module and `@UseGuards(RateLimitGuard)`, a request counts once.
    if (before.includes(this.guard)) return true
    asked.set(request, [...before, this.guard])
    // Of several guards on a handler, only the first counts the limits of its decorators.
    const outcome = decorated(this.guard, context, before.length === 0).ask(request, response, reader)
    if (!(outcome instanceof Promise)) return carryOut(outcome, response)
    // A promise that stays pending runs neither the handler nor an exception filter.
    const over = new Promise<boolean>(() => {})
    return unlessAnswered(outcome, nodeResponse(response), over, made => carryOut(made, response))
  }
}

function carryOut(outcome: Outcome | undefined, response: NestResponse): boolean {
  if (outcome === undefined) return true
  setFields(outcome, response)
  const { refusal, ended } = outcome
  if (refusal !== undefined) throw new HttpException(parsedBody(refusal.body), refusal.status)
  if (ended !== undefined) follow(outcome, nodeResponse(response))
  return true
}

/** What was decided, as a parameter of a handler: `list(@RateLimitDecision() decision: Decision | undefined)`. */
export const RateLimitDecision = createParamDecorator((_: unknown, context: ExecutionContext) =>
  decisionOf(context.switchToHttp().getRequest<NestRequest>()),
)

interface AsyncOptions {
  imports?: NonNullable<DynamicModule['imports']>
  inject?: NonNullable<FactoryProvider['inject']>
  useFactory: (...injected: never[]) => GuardOptions<NestView> | Guard | Promise<GuardOptions<NestView> | Guard>
}

class SluiceModule {}

const GUARD = Symbol.for('sluice.nest-guard')
// The same as `@Inject(GUARD)` before the constructor's parameter.
Inject(GUARD)(RateLimitGuard, undefined, 0)

/** `imports: [RateLimitModule.forRoot({ policy: '100/m' })]` limits every HTTP handler of the application. */
export const RateLimitModule = {
  forRoot<R = NestView>(options: GuardOptions<R> | Guard): DynamicModule {
    return moduleOf({ provide: GUARD, useValue: guardFrom(options) })
  },

  forRootAsync({ imports = [], inject = [], useFactory }: AsyncOptions): DynamicModule {
    const make = async (...injected: never[]) => guardFrom(await useFactory(...injected))
    return { ...moduleOf({ provide: GUARD, useFactory: make, inject }), imports }
  },
}

function moduleOf(guard: NonNullable<DynamicModule['providers']>[number]): DynamicModule {
  // The token under which Nest looks for guards of the whole application.
  const everywhere = { provide: 'APP_GUARD', useExisting: RateLimitGuard }
  const providers = [guard, RateLimitGuard, everywhere]
  return { module: SluiceModule, global: true, providers, exports: [GUARD, RateLimitGuard] }
}
