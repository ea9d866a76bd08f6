/** Higher priorities first, in order within one priority. Every operation takes constant time, however many wait. */
export class PriorityQueue<T extends { readonly priority: number }> {
  /** Highest first. There are few priorities, so a linear search finds one. */
  private readonly levels: { readonly priority: number; readonly members: Set<T> }[] = []
  size = 0

  push(member: T): void {
    const { priority } = member
    let at = this.levels.findIndex(level => level.priority <= priority)
    if (at < 0) at = this.levels.length
    if (this.levels[at]?.priority !== priority) this.levels.splice(at, 0, { priority, members: new Set() })
    this.levels[at]!.members.add(member)
    this.size++
  }

  shift(): T | undefined {
    const [first] = this.levels[0]?.members ?? []
    if (first !== undefined) this.delete(first)
    return first
  }

  delete(member: T): boolean {
    const at = this.levels.findIndex(level => level.priority === member.priority)
    const level = this.levels[at]
    if (level === undefined || !level.members.delete(member)) return false
    if (level.members.size === 0) this.levels.splice(at, 1)
    this.size--
    return true
  }
}
