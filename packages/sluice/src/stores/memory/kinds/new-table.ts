import type { Rule } from '../../../algorithms/rule.ts'
import type { MemoryContext } from '../table/pooled-key-table.ts'
import { BucketTable } from './bucket-table.ts'
import { FixedTable } from './fixed-table.ts'
import { LogTable } from './log-table.ts'
import { SlidingTable } from './sliding-table.ts'
import { SlotsTable } from './slots-table.ts'
import type { StateTable } from './state-table.ts'

/** An empty table for rules of this shape. A table of buckets joins the others of its limit, its `family`. */
export function newTable(rule: Rule, context: MemoryContext, family: BucketTable[]): StateTable {
  switch (rule.kind) {
    case 'bucket': {
      const table = new BucketTable(rule, context, family)
      family.push(table)
      return table
    }
    case 'fixed':
      return new FixedTable(rule, context)
    case 'sliding':
      return new SlidingTable(rule, context)
    case 'log':
      return new LogTable(rule, context)
    case 'slots':
      return new SlotsTable(rule, context)
  }
}
