import type { ExecutionContext } from '@nestjs/common'
import type { Guard } from '../guard/guard.ts'
import type { GuardLimit } from '../guard/guard-limit.ts'
import { checkRoute, type Route } from '../guard/route-options.ts'

/** Kept as Nest keeps its own metadata, so that classes inherit it and what wraps a method can carry it over. */
const LIMITS = 'sluice:limits'
const COST = 'sluice:cost'
const SKIP = 'sluice:skip'

type Decorator = ClassDecorator & MethodDecorator

/**
 * Further limits for a handler, or others in place of those of the same name. Those of a controller count all its
 * handlers together, and give way to those that a handler has under the same name.
 */
export function RateLimit(limits: Exclude<Route, { cost: unknown }>): Decorator {
  checkRoute('@RateLimit()', limits)
  return say(LIMITS, limits)
}

/** What a request to it costs, in the limits that have no cost of their own. */
export function Cost(cost: NonNullable<GuardLimit['cost']>): Decorator {
  return say(COST, { cost })
}

/** No limit concerns it; with `false`, a handler of a skipped controller is limited all the same. */
export function SkipRateLimit(skip = true): Decorator {
  return say(SKIP, skip)
}

function say(what: string, value: unknown): Decorator {
  return (target: object, _name?: string | symbol, method?: { value?: unknown }) =>
    Reflect.defineMetadata(what, value, (method?.value ?? target) as object)
}

/** Whether no limit concerns the handler that a request has come to. */
export function isSkipped(context: ExecutionContext): boolean {
  return said<boolean>(SKIP, context) === true
}

/** The guard for that handler: with the limits of its decorators if it is to count them, and with its cost. */
export function decorated(guard: Guard, context: ExecutionContext, withLimits: boolean): Guard {
  const [controller, handler] = [context.getClass(), context.getHandler()]
  let made = guard
  if (withLimits) {
    const [all, own] = [controller, handler].map(of => Reflect.getMetadata(LIMITS, of) as Route | undefined)
    if (all !== undefined) made = made.for(nameOf(controller), all)
    if (own !== undefined) made = made.for(`${nameOf(controller)}.${handler.name}`, own)
  }
  const cost = said<Route>(COST, context)
  return cost === undefined ? made : made.for(nameOf(controller), cost)
}

/** By a handler, or else by its controller or one that this extends. */
function said<T>(what: string, context: ExecutionContext): T | undefined {
  return Reflect.getMetadata(what, context.getHandler()) ?? Reflect.getMetadata(what, context.getClass())
}

/** Controllers of two modules may have one name, and those of two versions name and path. */
function nameOf(controller: { readonly name: string }): string {
  const [path, version] = ['path', '__version__'].map(what => String(Reflect.getMetadata(what, controller) ?? ''))
  return `${controller.name} ${path} ${version}`.trimEnd()
}
