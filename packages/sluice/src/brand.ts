/**
 * The package is built for `import` and for `require`, and one process may load both: what the one makes, the other must
 * know. So `instanceof` a branded class asks for a mark that both builds write, not for the class itself.
 */
export function brand(name: string, type: abstract new (...args: never[]) => object): void {
  const mark = Symbol.for(`sluice.${name}`)
  Object.defineProperty(type.prototype, mark, { value: true })
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      // Classes that users derive from it are no brand: they keep the usual meaning.
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, value)
      return typeof value === 'object' && value !== null && mark in value
    },
  })
}
