-- The ticks still in the window of a sliding log, oldest first.
--
-- KEYS, ARGV  see batch.lua; the log is KEYS[3], its spec the only one
-- Reply       now, then the ticks

local state = state_of(1, specs[1], 0)
if state == nil then return { now, -3 } end
local reply = specs[1].kernel.history(state)
table.insert(reply, 1, now)
return reply
