/**
 * Objects that belong to keys of a table, which holds only numbers: each object has a number of its own. 0 is nobody's:
 * it is what a new slot of the table holds.
 */
export class Handles<T> {
  private readonly objects: (T | undefined)[] = [undefined]
  private readonly free: number[] = []

  get(handle: number): T | undefined {
    return this.objects[handle]
  }

  add(object: T): number {
    const handle = this.free.pop() ?? this.objects.length
    this.objects[handle] = object
    return handle
  }

  remove(handle: number): void {
    if (handle === 0) return
    this.objects[handle] = undefined
    this.free.push(handle)
  }
}
