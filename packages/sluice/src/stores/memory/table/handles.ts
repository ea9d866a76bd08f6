import { type KeyBudget, occupy } from './key-table.ts'

/**
 * Numbers for objects that belong to keys, because a table holds only numbers. No object has the number 0, because a
 * new slot of the table holds 0. The bytes of the objects count as room of the store.
 */
export class Handles<T> {
  private readonly objects: (T | undefined)[] = [undefined]
  private readonly bytes: number[] = [0]
  private readonly free: number[] = []
  private readonly budget: KeyBudget

  constructor(budget: KeyBudget) {
    this.budget = budget
  }

  get(handle: number): T | undefined {
    return this.objects[handle]
  }

  add(object: T): number {
    const handle = this.free.pop() ?? this.objects.length
    this.objects[handle] = object
    this.bytes[handle] = 0
    return handle
  }

  /** The object now takes this many bytes. */
  weigh(handle: number, bytes: number): void {
    const before = this.bytes[handle]!
    if (handle === 0 || bytes === before) return
    this.bytes[handle] = bytes
    occupy(this.budget, bytes - before)
  }

  remove(handle: number): void {
    if (handle === 0) return
    this.weigh(handle, 0)
    this.objects[handle] = undefined
    this.free.push(handle)
  }
}
