import type { Type } from '@nestjs/common'
import { expected } from '../../errors.ts'
import { SKIP } from './nest-decorators.ts'

/** The parts of an application's modules that tell the classes in them. */
export type NestModules = Iterable<{
  readonly controllers: ReadonlyMap<unknown, NestWrapper>
  readonly providers: ReadonlyMap<unknown, NestWrapper>
}>
interface NestWrapper {
  readonly metatype: unknown
}

const [GATEWAY, MESSAGE] = ['websockets:is_gateway', 'websockets:message_mapping']
const PATTERN = 'microservices:pattern'
const GUARDS = '__guards__'

/**
 * Finds handlers that the application's guard would silently leave unlimited: Nest does not call such guards for WebSocket
 * gateways, and a message of a microservice has no client to count.
 */
export function checkHandlers(modules: NestModules, guard: Type): void {
  for (const { controllers, providers } of modules) {
    for (const { metatype } of [...controllers.values(), ...providers.values()]) {
      if (typeof metatype === 'function' && metatype.prototype) checkClass(metatype as Type, guard)
    }
  }
}

function checkClass(type: Type, guard: Type): void {
  for (const [name, method] of methodsOf(type.prototype)) {
    const of = (key: string) => [Reflect.getMetadata(key, method), Reflect.getMetadata(key, type)]
    const [own, whole] = of(SKIP)
    if ((own ?? whole) === true) continue
    if (Reflect.hasMetadata(PATTERN, method)) {
      throw unlimited(type, name, '@SkipRateLimit(), since a message of a microservice has no client')
    }
    if (!Reflect.hasMetadata(GATEWAY, type) || !Reflect.hasMetadata(MESSAGE, method)) continue
    const guards = of(GUARDS)
      .flat()
      .filter(one => one !== undefined)
    if (!guards.some(one => one === guard || one instanceof guard || one.prototype instanceof guard)) {
      throw unlimited(type, name, '@UseGuards(RateLimitGuard) or @SkipRateLimit()')
    }
  }
}

function unlimited({ name }: Type, method: string, what: string): Error {
  return expected('SLUICE_NOT_SUPPORTED', `${name}.${method} with ${what}`, 'none')
}

/** Includes the methods of the classes that it extends. */
function methodsOf(prototype: object): [name: string, method: object][] {
  const methods = new Map<string, object>()
  for (let at = prototype; at !== Object.prototype && at !== null; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === 'function' && name !== 'constructor' && !methods.has(name)) methods.set(name, value)
    }
  }
  return [...methods]
}
