-- Changes that no limit can refuse, one after another.
--
-- KEYS, ARGV    see batch.lua
-- call.changes  a list; each is [what, k, s, phase, cost, …]: key k, spec s, the phase of a window that starts by its key,
--               and, by what:
--                 'refund'   at, resets, window_end: takes back a charge made at tick `at`, before the key's next reset
--                 'credit'   gives cost back
--                 'release'  id: gives a slot back
--                 'renew'    id: holds a slot for another ttl
--                 'settle'   id, actual: ends a reservation
--                 'reset'    forgets the key
--                 'block'    ticks: refuses the key for so long
-- Reply         now, then one whole number for each: what was charged by a settlement (-1: there was none of that id),
--               1 if a slot was still held, else nothing of meaning; -3 where the value is foreign. Or { -1, now }: too late.

local UNKNOWN, FOREIGN = -1, -3
local amends = {}

-- Where nothing is counted there is nothing to give back, nor to write.
local function is_empty(spec, state)
  return spec.kernel.describe(state, spec, now) == 0
end

function amends.refund(k, spec, state, cost, at, resets, window_end)
  local extras = extras_of[k]
  if is_empty(spec, state) then return 0 end
  if (extras == nil and 0 or extras.resets) ~= resets then return 0 end
  touch(k, spec)
  spec.kernel.refund(state, spec, now, cost, at, window_end)
  return cost
end

function amends.credit(k, spec, state, cost)
  if is_empty(spec, state) then return 0 end
  touch(k, spec)
  spec.kernel.credit(state, spec, now, cost)
  return cost
end

function amends.release(k, spec, state, _, id)
  touch(k, spec)
  return spec.kernel.release(state, id)
end

function amends.renew(k, spec, state, _, id)
  touch(k, spec)
  return spec.kernel.renew(state, spec, now, id)
end

-- More than was reserved is charged without refusal, until one whole limit has been overdrawn.
function amends.settle(k, spec, state, _, id, actual)
  local extras = extras_of[k]
  for place, hold in ipairs(extras == nil and {} or extras.holds) do
    if hold.id == id then
      drop_hold(extras, place)
      touch(k, spec)
      local room = 2 * spec.limit - spec.kernel.counted(state, spec, now) - extras.held
      local charged = math.min(actual, math.max(hold.cost, room))
      if charged > 0 then spec.kernel.take(state, spec, now, charged) end
      return charged
    end
  end
  return UNKNOWN
end

-- That there was a reset is kept for as long as something from before it could be refunded.
function amends.reset(k, spec)
  local resets = extras_of[k] == nil and 0 or extras_of[k].resets
  states[k] = spec.kernel.fresh(spec, now)
  extras_of[k] = no_extras()
  extras_of[k].resets = resets + 1
  touch(k, spec)
  return 0
end

function amends.block(k, spec, _, _, ticks)
  local extras = extras_for(k)
  touch(k, spec)
  extras.blocked_until = now + ticks
  extras.forget_at = math.max(now + ticks, extras.forget_at)
  return ticks
end

local reply = { now }
for i, change in ipairs(call.changes) do
  local what, k, spec = change[1], change[2], specs[change[3]]
  if k < 0 then k = call.values - k end
  local state = state_of(k, spec, change[4])
  if state == nil then reply[i + 1] = FOREIGN
  else reply[i + 1] = amends[what](k, spec, state, change[5], change[6], change[7], change[8]) end
end
return answer(reply)
