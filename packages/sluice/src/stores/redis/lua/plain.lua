-- A call of nothing but plain decisions, all over the same limits: each charge costs 1 and is enforced, nothing is held,
-- booked or blocked. That is nearly all there is, so its script holds nothing that it does not run: a server makes every
-- function and table of a script anew in every call, and a few steps of Lua cost as much as a command. So the arithmetic of
-- each kind stands here once more, in a loop over the keys of a limit. (A call of one decision is plainer still: one.lua;
-- so is one of buckets alone: buckets.lua.)
--
-- In a call time stands still, so a state comes down to one number: `used`, in units. A charge fits if used + step is not
-- above full, whatever the kind. First all values are looked at, and `used`, with all that is charged, takes the place of
-- each in `found` (plain-states.lua). If all fits, so be it; else that is taken back, and the decisions are made one by
-- one (plain-decisions.lua). Then what has changed is written (plain-changes.lua).
--
-- KEYS, ARGV  see entry.lua; the states stand limit by limit, each once
-- ARGV[2]     of each limit five words, all of them parted by spaces:
--               B, how many keys it has, limit * perRequest, perRequest, perTick
--               F, how many keys it has, limit, 1, windowTicks, below 0 where windows start with their first use
--               S, how many keys it has, limit, 1, subTicks
-- ARGV[3, 4]  if a key is charged more than once: how many times more, key by key; and the key of each charge, decision by
--             decision, counted from 0 within its limit. Both in characters of that code
-- Reply       where all passed: now; for each key `used` in the end; for each limit ticks from now until what it admits is
--             reset, 0 for a bucket, where they follow from `used`. Else as decide.lua. Or -2 alone: something is not
--             plain here, and nothing was done

local found = call_redis('MGET', unpack(keys))
if record and found[last + 1] then return found[last + 1] end
local clock = found[1]
