import {
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  type FactoryProvider,
  HttpException,
} from '@nestjs/common'
import { follow, type NodeRequest, type NodeResponse, nodeReader } from './exchange/node.ts'
import type { Reader } from './facts.ts'
import type { Guard } from './guard.ts'
import { guardFrom } from './guard-from.ts'
import type { GuardLimit } from './guard-limit.ts'
import type { GuardOptions } from './guard-options.ts'
import { EXPOSE, exposed, joined, type Outcome } from './outcome.ts'
import type { Route } from './route-options.ts'

export type { GuardOptions } from './guard-options.ts'
export type { Route } from './route-options.ts'

/** What the platforms of Nest, Express and Fastify, have in common. */
interface NestRequest extends NodeRequest {
  readonly originalUrl?: string
  readonly route?: { readonly path?: unknown }
  readonly routeOptions?: { readonly url?: string }
}
interface NestResponse {
  readonly raw?: NodeResponse
  header(name: string, value: string): unknown
  getHeader(name: string): unknown
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

/** What decorators say about a controller or one of its handlers. */
interface Own {
  skip?: boolean
  limits?: Route
  cost?: NonNullable<GuardLimit['cost']>
}

const decorated = new WeakMap<object, Own>()

type Decorated = ClassDecorator & MethodDecorator

function say(own: Own): Decorated {
  return (target: object, _name?: string | symbol, method?: { value?: unknown }) => {
    const subject = (method?.value ?? target) as object
    decorated.set(subject, { ...decorated.get(subject), ...own })
  }
}

/** Further limits for a controller or handler, or others in place of those of the same name. */
export function RateLimit(limits: Route): Decorated {
  return say({ limits })
}

/** What a request to it costs, in the limits that have no cost of their own. */
export function Cost(cost: NonNullable<GuardLimit['cost']>): Decorated {
  return say({ cost })
}

/** No limit concerns it; with `false`, a handler of a skipped controller is limited all the same. */
export function SkipRateLimit(skip = true): Decorated {
  return say({ skip })
}

/** Guards HTTP handlers. A refusal is an `HttpException`, so that exception filters see it. */
export class RateLimitGuard implements CanActivate {
  readonly guard: Guard

  constructor(options: GuardOptions | Guard) {
    this.guard = guardFrom(options)
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true
    const own = { ...decorated.get(context.getClass()), ...decorated.get(context.getHandler()) }
    if (own.skip === true) return true
    const http = context.switchToHttp()
    const [request, response] = [http.getRequest<NestRequest>(), http.getResponse<NestResponse>()]
    const asked = this.guardFor(own, context, request).ask(request, response, reader)
    return asked instanceof Promise ? asked.then(outcome => carryOut(outcome, response)) : carryOut(asked, response)
  }

  private guardFor({ limits, cost }: Own, context: ExecutionContext, request: NestRequest): Guard {
    if (limits === undefined && cost === undefined) return this.guard
    const handler = `${context.getClass().name}.${context.getHandler().name} ${reader.route!(request) ?? ''}`
    return this.guard.for(handler, { ...limits, ...(cost !== undefined && { cost }) } as Route)
  }
}

function carryOut(outcome: Outcome | undefined, response: NestResponse): boolean {
  if (outcome === undefined) return true
  const { fields, expose, refusal, ended } = outcome
  for (let i = 0; i < fields.length; i += 2) {
    response.header(fields[i]!, joined(response.getHeader(fields[i]!), fields[i + 1]!))
  }
  if (expose !== undefined) response.header(EXPOSE, exposed(response.getHeader(EXPOSE), expose))
  if (refusal !== undefined) {
    for (let i = 0; i < refusal.fields.length; i += 2) response.header(refusal.fields[i]!, refusal.fields[i + 1]!)
    throw new HttpException(bodyOf(refusal.body), refusal.status)
  }
  if (ended !== undefined) follow(outcome, nodeResponse(response))
  return true
}

/** The platform makes JSON of an object itself. */
function bodyOf(text: string): string | object {
  return text.startsWith('{') ? (JSON.parse(text) as object) : text
}

interface AsyncOptions {
  imports?: NonNullable<DynamicModule['imports']>
  inject?: NonNullable<FactoryProvider['inject']>
  useFactory: (...injected: never[]) => GuardOptions | Guard | Promise<GuardOptions | Guard>
}

class SluiceModule {}

/** `imports: [RateLimitModule.forRoot({ policy: '100/m' })]` guards every HTTP handler of the application. */
export const RateLimitModule = {
  forRoot(options: GuardOptions | Guard): DynamicModule {
    return moduleOf({ provide: RateLimitGuard, useValue: new RateLimitGuard(options) })
  },

  forRootAsync({ imports = [], inject = [], useFactory }: AsyncOptions): DynamicModule {
    const make = async (...injected: never[]) => new RateLimitGuard(await useFactory(...injected))
    return { ...moduleOf({ provide: RateLimitGuard, useFactory: make, inject }), imports }
  },
}

function moduleOf(provider: NonNullable<DynamicModule['providers']>[number]): DynamicModule {
  // Nest looks for guards of the whole application under this name.
  const everywhere = { provide: 'APP_GUARD', useExisting: RateLimitGuard }
  return { module: SluiceModule, global: true, providers: [provider, everywhere], exports: [RateLimitGuard] }
}
