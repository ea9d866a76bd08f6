import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ruleOf } from '../../../algorithms/rule.ts'
import { fixedWindow, slidingLog, tokenBucket } from '../../../index.ts'
import { Charge, ENFORCED } from '../../charge.ts'
import { tagOf } from '../client/tags.ts'
import { CallKeys } from './message.ts'
import { RedisSpace } from './naming.ts'

const space = new RedisSpace('limit', { localShare: 0.5 })
const rules = [
  tokenBucket({ capacity: 5, refill: '1/s' }),
  fixedWindow({ limit: 5, window: '1h' }),
  slidingLog({ limit: 5, window: '1h' }),
].map(ruleOf)

const charges = fc
  .tuple(fc.integer({ min: 0, max: rules.length - 1 }), fc.integer({ min: 0, max: 40 }))
  .map(
    ([rule, user]) => new Charge({ space, block: undefined, atOnce: false }, rules[rule]!, `user:${user}`, 1, ENFORCED),
  )

test.each([1, 3, 128])('a call has each of its keys once, few or many, with %i tags', tags => {
  fc.assert(
    fc.property(fc.array(charges, { maxLength: 150 }), asked => {
      const keys = new CallKeys(key => tagOf(key, tags))
      const found = asked.map(charge => {
        const number = keys.numberOf(charge)
        return number > 0 ? keys.values[number - 1] : keys.logs[-number - 1]
      })
      const nameOf = ({ rule, key }: Charge) => `${space.prefixOf(rule).startFor(tagOf(key, tags))}${key}`
      expect(found).toEqual(asked.map(nameOf))
      expect(new Set(keys.names).size).toBe(keys.count)
    }),
  )
})
