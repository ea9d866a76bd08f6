import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ruleOf } from '../../../algorithms/rule.ts'
import { fixedWindow, slidingLog, tokenBucket } from '../../../index.ts'
import { Charge, ENFORCED } from '../../charge.ts'
import { tagOf } from '../client/tags.ts'
import { CallKeys, FIRST_PLACE } from './call-keys.ts'
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
      const found = asked.map(charge => keys.keyOf(charge))
      const { names, rules, counts } = keys.inOrder()
      const nameOf = ({ rule, key }: Charge) => `${space.prefixOf(rule).startFor(tagOf(key, tags))}${key}`
      expect(found.map(({ place }) => names[place - FIRST_PLACE])).toEqual(asked.map(nameOf))
      expect(new Set(names).size).toBe(names.length)
      expect(names).toHaveLength(keys.count)
      const ruleByPlace = rules.flatMap((rule, i) => new Array(counts[i]).fill(rule))
      expect(found.map(({ place }) => ruleByPlace[place - FIRST_PLACE])).toEqual(asked.map(({ rule }) => rule))
    }),
  )
})
