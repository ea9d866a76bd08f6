import {
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  type FactoryProvider,
  HttpException,
  Inject,
} from '@nestjs/common'
import { guardFrom } from './adapters/guard-from.ts'
import { decorated, isSkipped } from './adapters/nest-decorators.ts'
import { follow, type NodeRequest, type NodeResponse, nodeReader } from './adapters/node-exchange.ts'
import { type Reply, setFields } from './adapters/set-fields.ts'
import type { Guard } from './guard/guard.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { Outcome } from './guard/outcome.ts'
import type { Reader } from './request/request-facts.ts'

export { Cost, RateLimit, SkipRateLimit } from './adapters/nest-decorators.ts'
export type { GuardOptions } from './guard/guard-options.ts'
export type { Route } from './guard/route-options.ts'

/** What the platforms of Nest, Express and Fastify, have in common. */
interface NestRequest extends NodeRequest {
  readonly originalUrl?: string
  readonly route?: { readonly path?: unknown }
  readonly routeOptions?: { readonly url?: string }
}
interface NestResponse extends Reply {
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

/** Which guards have been asked about a request. */
const asked = new WeakMap<NestRequest, readonly Guard[]>()

/** Guards HTTP handlers. A refusal is an `HttpException`, so that exception filters see it. */
export class RateLimitGuard implements CanActivate {
  readonly guard: Guard

  constructor(options: GuardOptions | Guard) {
    this.guard = guardFrom(options)
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http' || isSkipped(context)) return true
    const http = context.switchToHttp()
    const [request, response] = [http.getRequest<NestRequest>(), http.getResponse<NestResponse>()]
    const before = asked.get(request) ?? []
    // The module guards every handler already: with `@UseGuards(RateLimitGuard)` besides, nothing counts twice.
    if (before.includes(this.guard)) return true
    asked.set(request, [...before, this.guard])
    // Nor do the limits of decorators where a handler has several guards.
    const outcome = decorated(this.guard, context, before.length === 0).ask(request, response, reader)
    return outcome instanceof Promise ? outcome.then(made => carryOut(made, response)) : carryOut(outcome, response)
  }
}

function carryOut(outcome: Outcome | undefined, response: NestResponse): boolean {
  if (outcome === undefined) return true
  setFields(outcome, response)
  const { refusal, ended } = outcome
  if (refusal !== undefined) throw new HttpException(bodyOf(refusal.body), refusal.status)
  if (ended !== undefined) follow(outcome, nodeResponse(response))
  return true
}

/** The platform makes JSON of an object itself. */
function bodyOf(text: string): string | object {
  try {
    return text.startsWith('{') ? (JSON.parse(text) as object) : text
  } catch {
    return text
  }
}

interface AsyncOptions {
  imports?: NonNullable<DynamicModule['imports']>
  inject?: NonNullable<FactoryProvider['inject']>
  useFactory: (...injected: never[]) => GuardOptions | Guard | Promise<GuardOptions | Guard>
}

class SluiceModule {}

const GUARD = Symbol('sluice guard')
// What `@Inject(GUARD)` before the constructor's parameter would do.
Inject(GUARD)(RateLimitGuard, undefined, 0)

/** `imports: [RateLimitModule.forRoot({ policy: '100/m' })]` guards every HTTP handler of the application. */
export const RateLimitModule = {
  forRoot(options: GuardOptions | Guard): DynamicModule {
    return moduleOf({ provide: GUARD, useValue: guardFrom(options) })
  },

  forRootAsync({ imports = [], inject = [], useFactory }: AsyncOptions): DynamicModule {
    const make = async (...injected: never[]) => guardFrom(await useFactory(...injected))
    return { ...moduleOf({ provide: GUARD, useFactory: make, inject }), imports }
  },
}

function moduleOf(guard: NonNullable<DynamicModule['providers']>[number]): DynamicModule {
  // Nest looks for guards of the whole application under this name.
  const everywhere = { provide: 'APP_GUARD', useExisting: RateLimitGuard }
  const providers = [guard, RateLimitGuard, everywhere]
  return { module: SluiceModule, global: true, providers, exports: [GUARD, RateLimitGuard] }
}
