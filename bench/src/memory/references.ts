import type { Contestant } from '../entrant.ts'
import { after, type Keys } from '../keys.ts'

/** The floor: counting by key and nothing else. It reads no clock, so nothing ever expires or refills. */
export function bareMap(limit: number, keys: Keys): Contestant {
  const counters = new Map<string, { count: number }>()
  let at = 0
  return {
    name: 'bare Map, no clock',
    ways: {
      'get and set': count => {
        let admitted = 0
        for (let i = 0; i < count; i++) {
          const key = `user:${keys.order[at]}`
          let counter = counters.get(key)
          if (counter === undefined) {
            counter = { count: 0 }
            counters.set(key, counter)
          }
          if (++counter.count <= limit) admitted++
          at = after(keys, at)
        }
        return admitted
      },
    },
  }
}

/**
 * The ceiling: the least work of a decision. It reads the clock as Sluice does by default, builds the key, keeps no
 * state.
 */
export function clockAndKey(keys: Keys): Contestant {
  const origin = performance.timeOrigin
  let at = 0
  let latest = 0
  return {
    name: 'clock and key string alone',
    ways: {
      'neither stored': count => {
        let admitted = 0
        for (let i = 0; i < count; i++) {
          const key = `user:${keys.order[at]}`
          const now = origin + performance.now()
          // Use both, or the compiler would leave them out.
          if (now >= latest && key.charCodeAt(key.length - 1) !== 0) admitted++
          latest = now
          at = after(keys, at)
        }
        return admitted
      },
    },
  }
}
