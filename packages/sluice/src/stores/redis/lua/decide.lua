-- Decides a batch: one decision after another, each over one or several limits, all of its charges or none of them.
--
-- KEYS, ARGV  see batch.lua
-- call.runs   a list; each entry is either
--               [s, k, k, …]   plain decisions: spec s (from 1) charged 1 at each key k in turn, or
--               [0, take, hold_ticks, book_ticks, strikes, k, s, cost, role, id, phase, k, s, cost, role, id, phase, …]
--             take, strikes: 1 or 0. hold_ticks > 0 reserves, book_ticks >= 0 books. role: -2 enforced, -1 shadow, else
--             shadow in place of the charge of that index (from 0). id: of the slot or reservation it would be. phase:
--             of windows that start by their key.
-- Reply       now, then for each charge three whole numbers: used (in units), ticks from now until it is reset, and
--             ticks until it passes * 4 + 1 if allowed + 2 if blocked. Below 0: -1 never, -2 never and blocked, -3 the
--             value is foreign. Then, for the few that need it: number of the charge (from 0), what (1 resets, 2 held), value.
--             Or { -1, now }: too late.

local NEVER_PASSES, NEVER_BLOCKED, FOREIGN = -1, -2, -3
local RESETS, HELD = 1, 2
local ENFORCED = -2

local reply, tail = { now }, {}
local charges_told = 0

local function tell(used, reset_at, retry, allowed, blocked)
  local at = charges_told * 3
  charges_told = charges_told + 1
  reply[at + 2] = used
  reply[at + 3] = reset_at - now
  if retry == NEVER then reply[at + 4] = blocked and NEVER_BLOCKED or NEVER_PASSES
  else reply[at + 4] = (retry == 0 and 0 or (retry - now) * 4) + (allowed and 1 or 0) + (blocked and 2 or 0) end
end

local function tell_foreign()
  local at = charges_told * 3
  charges_told = charges_told + 1
  reply[at + 2], reply[at + 3], reply[at + 4] = 0, 0, FOREIGN
end

local function tell_rare(what, value)
  local at = #tail
  tail[at + 1], tail[at + 2], tail[at + 3] = charges_told, what, value
end

-- The verdict on one charge: retry (0 where it passes), and the tick its block ends, 0 without one.
local function judge(k, state, spec, cost, phase)
  local kernel, extras = spec.kernel, extras_of[k]
  if extras == nil then return kernel.judge(state, spec, now, cost), 0 end
  local retry = kernel.judge(state, spec, now, cost + extras.held)
  if retry ~= 0 and extras.held > 0 then retry = retry_beside_holds(extras, kernel, state, spec, now, cost, phase) end
  if extras.blocked_until <= now then return retry, 0 end
  return math.max(retry, extras.blocked_until), extras.blocked_until
end

-- A refusal by the limit itself starts its block; a cost that can never pass is a mistake, not an attack.
local function strike_for(k, spec, cost, retry)
  if spec.block == nil or cost > spec.limit then return retry end
  local extras = extras_for(k)
  strike(extras, spec.block, now)
  touch(k, spec)
  return math.max(retry, extras.blocked_until)
end

local function describe_and_tell(k, state, spec, retry, allowed, blocked, phase, taken)
  local extras = extras_of[k]
  local used, reset_at = spec.kernel.describe(state, spec, now)
  if extras ~= nil then
    if extras.held > 0 then
      used = used + extras.held * spec.perRequest
      reset_at = reset_beside_holds(extras, spec.kernel, state, spec, now, phase)
      tell_rare(HELD, 1)
    end
    if extras.blocked_until > now then
      used = math.max(used, spec.limit * spec.perRequest)
      reset_at = math.max(reset_at, extras.blocked_until)
    end
    if taken and extras.resets > 0 then tell_rare(RESETS, extras.resets) end
  end
  tell(used, reset_at, retry, allowed, blocked)
end

-- One limit, cost 1, enforced, nothing held or booked: nearly all there is.
local function decide_plain(k, spec)
  local state = state_of(k, spec, 0)
  if state == nil then return tell_foreign() end
  local retry, blocked_until = judge(k, state, spec, 1, 0)
  local allowed, blocked = retry == 0, blocked_until > 0
  if allowed then
    spec.kernel.take(state, spec, now, 1)
    touch(k, spec)
  elseif not blocked then
    retry = strike_for(k, spec, 1, retry)
  end
  describe_and_tell(k, state, spec, retry, allowed, blocked, 0, allowed)
end

local function decide_all(run)
  local take, hold_ticks, book_ticks, strikes = run[2] == 1, run[3], run[4], run[5] == 1
  local charges, refused = {}, 0
  for at = 6, #run, 6 do
    local k, spec, cost, role, phase = run[at], specs[run[at + 1]], run[at + 2], run[at + 3], run[at + 5]
    if k < 0 then k = call.values - k end
    local charge = { k = k, spec = spec, cost = cost, role = role, id = run[at + 4], phase = phase }
    charges[#charges + 1] = charge
    charge.state = state_of(k, spec, phase)
    if charge.state ~= nil then
      charge.retry, charge.blocked_until = judge(k, charge.state, spec, cost, phase)
      charge.allowed = charge.retry == 0
      local held = extras_of[k] ~= nil and extras_of[k].held > 0
      if book_ticks >= 0 and role == ENFORCED and spec.kind == 'bucket' and charge.blocked_until == 0 and not held then
        local start, ask_again = spec.kernel.book(charge.state, spec, now, cost, charge.retry, book_ticks)
        charge.allowed = start ~= nil
        charge.booked = start ~= nil
        charge.retry = start or ask_again
        if charge.booked then touch(k, spec) end
      end
      if role == ENFORCED and not charge.allowed then refused = refused + 1 end
    end
  end

  for _, charge in ipairs(charges) do
    local state, spec, k = charge.state, charge.spec, charge.k
    if state == nil then
      tell_foreign()
    else
      local passes
      if charge.role == ENFORCED then
        passes = refused == 0
      else
        local replaced = charge.role >= 0 and charges[charge.role + 1] or nil
        local stands_for = replaced ~= nil and replaced.state ~= nil and not replaced.allowed and 1 or 0
        passes = charge.allowed and refused == stands_for
      end
      local holds = hold_ticks > 0 and spec.kind ~= 'slots'
      local taken = charge.booked or false
      if passes then
        if take and not taken and (charge.cost > 0 or holds) then
          if holds then add_hold(extras_for(k), charge.id, charge.cost, now + hold_ticks)
          else spec.kernel.take(state, spec, now, charge.cost, charge.id) end
          touch(k, spec)
          taken = true
        end
      elseif not charge.allowed and charge.blocked_until == 0 and strikes then
        charge.retry = strike_for(k, spec, charge.cost, charge.retry)
      end
      describe_and_tell(k, state, spec, charge.retry, charge.allowed, charge.blocked_until > 0, charge.phase, taken)
    end
  end
end

for _, run in ipairs(call.runs) do
  if run[1] == 0 then
    decide_all(run)
  else
    local spec = specs[run[1]]
    for i = 2, #run do
      local k = run[i]
      if k < 0 then k = call.values - k end
      decide_plain(k, spec)
    end
  end
end

local at = #reply
for i, fact in ipairs(tail) do reply[at + i] = fact end
return answer(reply)
