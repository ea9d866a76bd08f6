import type { LuaFault } from './plant.ts'

const file = 'buckets.lua'

/** The script of calls of several plain decisions under one bucket. */
export const bucketCallFaults: readonly LuaFault[] = [
  {
    law: [1, 4],
    says: 'several buckets of a call admit one more than they hold',
    file,
    find: 'if used > full then some_refused = true end',
    replace: 'if used > full + per_request then some_refused = true end',
  },
  {
    law: [1],
    says: 'a bucket that refuses beside others is charged',
    file,
    find: 'found[i] = false -- which is not written',
    replace: '',
  },
  {
    law: [3],
    says: 'one of several buckets is said to have room a tick too early',
    file,
    find: 'ceil((used - full) / per_tick) * 4',
    replace: '(ceil((used - full) / per_tick) - 1) * 4',
  },
  {
    law: [3],
    says: 'one of several buckets of nothing is said to have room some time',
    file,
    find: 'full == 0 and -1 or ceil',
    replace: 'ceil',
  },
  {
    law: [4],
    says: 'one of several buckets saves up what it cannot drain',
    file,
    find: 'if used < 0 then used = 0 end',
    replace: '',
  },
  {
    law: [4],
    says: 'a bucket is written with the level of the one before it',
    file,
    find: 'if used ~= kept_used or since ~= now then',
    replace: 'if not bytes then',
  },
  {
    law: [6],
    says: 'the same time drains twice from one of several buckets after the clock was set back',
    file,
    find: 'elsewhere[i] = since',
    replace: '',
  },
  {
    law: [8],
    says: 'one of several buckets is forgotten before it has drained',
    file,
    find: 'local keep = ceil(2 * used / per_tick / 1000000)',
    replace: 'local keep = 0',
  },
  {
    law: [8],
    says: 'one of several buckets that fills up is kept as long as when it was nearly empty',
    file,
    find: 'if (used + per_request) / per_tick > kept_until - now then',
    replace: 'if kept_until == 0 then',
  },
  {
    law: [9],
    says: 'the time until one of several buckets is whole is rounded down',
    file,
    find: 'ceil(used / per_tick), code',
    replace: 'math.floor(used / per_tick), code',
  },
  {
    law: [11],
    says: 'a value of another letter is taken for one of several buckets',
    file,
    find: 'or letter ~= 66 then',
    replace: 'then',
  },
  {
    law: [11],
    says: 'a value of another length is taken for one of several buckets',
    file,
    find: 'if #value ~= 41 then',
    replace: 'if #value < 41 then',
  },
  {
    law: [11],
    says: 'several buckets are written over a value of a foreign type',
    file,
    find: "if missing and call_redis('EXISTS'",
    replace: "if false and call_redis('EXISTS'",
  },
]
