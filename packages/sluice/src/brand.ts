/**
 * The package is built for `import` and for `require`, and one process may load both builds. Each must recognise
 * objects of the other. So `instanceof` a branded class checks for a mark that both builds set, not for the class
 * itself.
 */
export function brand(name: string, type: abstract new (...args: never[]) => object): void {
  const mark = Symbol.for(`sluice.${name}`)
  Object.defineProperty(type.prototype, mark, { value: true })
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      // Classes that users derive keep the usual `instanceof`.
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, value)
      return typeof value === 'object' && value !== null && mark in value
    },
  })
}
