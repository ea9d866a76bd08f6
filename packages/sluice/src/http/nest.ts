import {
  type CanActivate,
  createParamDecorator,
  type DynamicModule,
  type ExecutionContext,
  type FactoryProvider,
  HttpException,
  Inject,
  type OnModuleInit,
} from '@nestjs/common'
import { ModulesContainer } from '@nestjs/core'
import { guardFrom } from './adapters/guard-from.ts'
import { decorated, isSkipped } from './adapters/nest-decorators.ts'
import { exchangeOf, type NestExchange, type NestRequest, nodeResponse, unsupported } from './adapters/nest-exchange.ts'
import { checkHandlers } from './adapters/nest-start-check.ts'
import { follow, unlessAnswered } from './adapters/node-exchange.ts'
import { setFields } from './adapters/set-fields.ts'
import type { Guard } from './guard/guard.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import { decisionOf, type Outcome } from './guard/outcome.ts'
import type { RequestView } from './request/request-facts.ts'
import { GONE, parsedBody } from './response/refusal.ts'

export { Cost, RateLimit, SkipRateLimit } from './adapters/nest-decorators.ts'
export type { NestRequest } from './adapters/nest-exchange.ts'
export type { GuardOptions } from './guard/guard-options.ts'
export type { Route } from './guard/route-guards.ts'
export { decisionOf }

/** What functions in the options receive. */
export type NestView = RequestView<NestRequest>

const ASKED = Symbol.for('sluice.nest-asked')

/** The guards that have decided on a call of a handler. Both builds of the package share this. */
const registry = globalThis as { [ASKED]?: WeakMap<ExecutionContext, readonly Guard[]> }
registry[ASKED] ??= new WeakMap()
const asked = registry[ASKED]

/**
 * Limits handlers of HTTP, GraphQL resolvers and messages of WebSocket gateways. A refusal is an `HttpException`, in a gateway
 * a `WsException`, so that exception filters see it.
 */
export class RateLimitGuard implements CanActivate {
  readonly guard: Guard

  constructor(options: GuardOptions<NestView> | Guard) {
    this.guard = guardFrom(options)
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (isSkipped(context)) return true
    const before = asked.get(context) ?? []
    // With both the module and `@UseGuards(RateLimitGuard)`, a request counts once.
    if (before.includes(this.guard)) return true
    asked.set(context, [...before, this.guard])
    const exchange = exchangeOf(context)
    const { request, response, reader } = exchange
    // Of several guards on a handler, only the first counts the limits of its decorators.
    const outcome = decorated(this.guard, context, before.length === 0).ask(request, response, reader)
    const goOn = (made: Outcome | undefined) => carryOut(made, exchange, context)
    if (!(outcome instanceof Promise)) return goOn(outcome)
    if (exchange.kind !== 'http' || response === undefined) return outcome.then(goOn)
    // A promise that stays pending runs neither the handler nor an exception filter.
    return unlessAnswered(outcome, nodeResponse(response), new Promise<boolean>(() => {}), goOn)
  }
}

function carryOut(
  outcome: Outcome | undefined,
  { kind, response }: NestExchange,
  context: ExecutionContext,
): boolean | Promise<boolean> {
  if (outcome === undefined) return true
  const { ended } = outcome
  // Many GraphQL fields share one response, so no header can tell about each of them.
  const refusal = kind === 'http' ? setFields(outcome, response!) : outcome.refusal
  if (refusal !== undefined) {
    const body = parsedBody(refusal.body)
    if (kind === 'ws') return refuseMessage(body)
    throw new HttpException(body, refusal.status)
  }
  if (ended === undefined) return true
  if (response !== undefined) follow(outcome, nodeResponse(response))
  else {
    ended(GONE.status, 0, true)
    throw unsupported(context, 'limited without slots, countWhen, resetWhen and settle, since nothing tells its end')
  }
  return true
}

async function refuseMessage(body: string | object): Promise<boolean> {
  const { WsException } = await import('@nestjs/websockets')
  throw new WsException(body)
}

/** The decision as a parameter of a handler: `list(@RateLimitDecision() decision: Decision | undefined)`. */
export const RateLimitDecision = createParamDecorator((_: unknown, context: ExecutionContext) =>
  decisionOf(exchangeOf(context).request),
)

interface AsyncOptions {
  imports?: DynamicModule['imports'] | undefined
  inject?: FactoryProvider['inject'] | undefined
  useFactory: (...injected: never[]) => GuardOptions<NestView> | Guard | Promise<GuardOptions<NestView> | Guard>
}

class SluiceModule implements OnModuleInit {
  private readonly modules: ModulesContainer

  constructor(modules: ModulesContainer) {
    this.modules = modules
  }

  onModuleInit(): void {
    checkHandlers(this.modules.values(), RateLimitGuard)
  }
}

const GUARD = Symbol.for('sluice.nest-guard')
// The same as `@Inject(GUARD)` before the constructor's parameter.
Inject(GUARD)(RateLimitGuard, undefined, 0)
Inject(ModulesContainer)(SluiceModule, undefined, 0)

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
