import type { ExecutionContext } from '@nestjs/common'
import type { Guard } from '../guard/guard.ts'
import type { GuardLimit } from '../guard/guard-limit.ts'
import { checkRoute, type Route } from '../guard/route-guards.ts'

/**
 * Kept as Reflect metadata like Nest's own, so that subclasses inherit it and decorators that wrap a method can copy
 * it.
 */
const LIMITS = 'sluice:limits'
const COST = 'sluice:cost'
export const SKIP = 'sluice:skip'

type Decorator = ClassDecorator & MethodDecorator

/**
 * Adds limits to a handler, or replaces limits of the same name. Limits on a controller count all its handlers
 * together; a handler's limit of the same name replaces them.
 */
export function RateLimit(limits: Exclude<Route, { cost: unknown }>): Decorator {
  checkRoute('@RateLimit()', limits)
  return setMetadata(LIMITS, limits)
}

/** The cost of a request to this handler, in the limits that set no cost themselves. */
export function Cost(cost: NonNullable<GuardLimit['cost']>): Decorator {
  return setMetadata(COST, { cost })
}

/** Exempts a handler or a controller; `false` limits a handler of an exempt controller again. */
export function SkipRateLimit(skip = true): Decorator {
  return setMetadata(SKIP, skip)
}

function setMetadata(name: string, value: unknown): Decorator {
  return (target: object, _property?: string | symbol, method?: { value?: unknown }) =>
    Reflect.defineMetadata(name, value, (method?.value ?? target) as object)
}

/** Whether the handler of a request is exempt. */
export function isSkipped(context: ExecutionContext): boolean {
  return metadataOf<boolean>(SKIP, context) === true
}

/** The guard for a handler: with the cost and, if `withLimits`, the limits of its decorators. */
export function decorated(guard: Guard, context: ExecutionContext, withLimits: boolean): Guard {
  const [controller, handler] = [context.getClass(), context.getHandler()]
  let made = guard
  if (withLimits) {
    const [all, own] = [controller, handler].map(of => Reflect.getMetadata(LIMITS, of) as Route | undefined)
    if (all !== undefined) made = made.for(nameOf(controller), all)
    if (own !== undefined) made = made.for(`${nameOf(controller)}.${handler.name}`, own)
  }
  const cost = metadataOf<Route>(COST, context)
  return cost === undefined ? made : made.for(nameOf(controller), cost)
}

/** The metadata of the handler, or else of its controller or of a class that the controller extends. */
function metadataOf<T>(name: string, context: ExecutionContext): T | undefined {
  return Reflect.getMetadata(name, context.getHandler()) ?? Reflect.getMetadata(name, context.getClass())
}

/** A unique name: controllers of two modules may share a class name, and two versions also share the path. */
function nameOf(controller: { readonly name: string }): string {
  const [path, version] = ['path', '__version__'].map(what => String(Reflect.getMetadata(what, controller) ?? ''))
  return `${controller.name} ${path} ${version}`.trimEnd()
}
