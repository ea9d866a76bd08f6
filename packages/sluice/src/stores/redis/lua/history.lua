-- The ticks still in the window of a sliding log, oldest first.
--
-- KEYS, ARGV  see entry.lua and batch.lua; the log is KEYS[3], its spec the only one
-- Reply       now, then the ticks; or now and -3, where the value is foreign

local state = with_states().at(1, specs[1], 0)
local times = state and states.kernel(specs[1]).history(state) or { FOREIGN }
write_all()
for i, time in ipairs(times) do times[i] = pack('<d', time) end
return pack('<d', now) .. table.concat(times)
