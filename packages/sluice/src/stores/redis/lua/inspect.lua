-- The state of one key as numbers. It writes nothing but what has expired.
--
-- KEYS, ARGV  see entry.lua and batch.lua; the state is KEYS[2], its spec the only one
-- call.phase  of windows that start by their key
-- Reply       now, used (in units, as a decision would tell it), the tick its block ends (0 without one), bytes, how many
--             reservations it has, cost and expiry of each, then the numbers of its kernel; or now and -3, where the value
--             is foreign

-- A member and its score.
local HOLD_BYTES = 24
local spec = specs[1]
local state = with_states().at(1, spec, call.phase)
if not state then return pack('<dd', now, FOREIGN) end
local kernel, extra = states.kernel(spec), states.extra_of(1) or states.extras().none(keys[2])
local used, blocked_until, per_request = kernel.describe(state, spec, now), 0, spec.perRequest or 1
used = used + extra.held * per_request
if extra.blocked_until > now then
  blocked_until = extra.blocked_until
  used = math.max(used, spec.limit * per_request)
end
local holds = extra.count > 0 and states.extras().all(extra) or {}
local bytes = call_redis('STRLEN', keys[2]) + #holds * HOLD_BYTES
local numbers = { now, used, blocked_until, bytes, #holds }
local function add(number) numbers[#numbers + 1] = number end
for _, hold in ipairs(holds) do
  add(hold.cost)
  add(hold.expiry)
end
for _, number in ipairs(kernel.numbers(state)) do add(number) end
write_all()
for i, number in ipairs(numbers) do numbers[i] = pack('<d', number) end
return table.concat(numbers)
