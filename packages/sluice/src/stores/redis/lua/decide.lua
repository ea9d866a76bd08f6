-- Decides a batch: one decision after another, each over one or several limits, all of its charges or none of them.
--
-- KEYS, ARGV  see batch.lua
-- call.runs   a list; each entry is either
--               [s, k, k, …]   plain decisions: spec s (from 1) charged 1 at each key k in turn, or
--               [0, take, hold_ticks, book_ticks, strikes, k, s, cost, role, id, phase, k, s, cost, role, id, phase, …]
--             take, strikes: 1 or 0. hold_ticks > 0 reserves, book_ticks >= 0 books. role: -2 enforced, -1 shadow, else
--             shadow in place of the charge of that index (from 0). id: of the slot or reservation it would be. phase:
--             of windows that start by their key. k below 0: the logs.
-- Reply       now, then for each charge three numbers: used (in units), ticks from now until it is reset, and
--             ticks until it passes * 4 + 1 if allowed + 2 if blocked. Below 0: -1 never, -2 never and blocked, -3 the
--             value is foreign. Then, for the few that need it: number of the charge (from 0), what (1 resets, 2 held), value.

local NEVER_PASSES, NEVER_BLOCKED = -1, -2
local RESETS, HELD = 1, 2
local ENFORCED = -2

local reply, told, rare = { pack('<d', now) }, 1, {}

local function tell(used, reset_at, retry, allowed, blocked)
  local code
  if allowed and retry == 0 then code = 1
  elseif retry == NEVER then code = blocked and NEVER_BLOCKED or NEVER_PASSES
  else code = (retry - now) * 4 + (allowed and 1 or 0) + (blocked and 2 or 0) end
  told = told + 1
  reply[told] = pack('<ddd', used, reset_at - now, code)
end

local function tell_foreign()
  told = told + 1
  reply[told] = pack('<ddd', 0, 0, FOREIGN)
end

local function tell_rare(what, value)
  rare[#rare + 1] = pack('<ddd', told - 1, what, value)
end

-- The verdict on one charge: retry (0 where it passes), and the tick its block ends, 0 without one.
local function judge(k, state, spec, cost, phase)
  local kernel, extra = spec.kernel, extras_of[k]
  if not extra then return kernel.judge(state, spec, now, cost), 0 end
  local retry = kernel.judge(state, spec, now, cost + extra.held)
  if retry ~= 0 and extra.held > 0 then retry = extras.retry_at(extra, kernel, state, spec, now, cost, phase) end
  if extra.blocked_until <= now then return retry, 0 end
  return math.max(retry, extra.blocked_until), extra.blocked_until
end

-- A refusal by the limit itself starts its block; a cost that can never pass is a mistake, not an attack.
local function strike(k, spec, cost, retry)
  if not spec.block or cost > spec.limit then return retry end
  local extra = extras_for(k)
  extras.strike(extra, spec.block, now)
  touch(k, spec)
  return math.max(retry, extra.blocked_until)
end

local function describe(k, state, spec, phase, taken)
  local extra = extras_of[k]
  local used, reset_at = spec.kernel.describe(state, spec, now)
  if not extra then return used, reset_at end
  if extra.held > 0 then
    used = used + extra.held * (spec.perRequest or 1)
    reset_at = extras.reset_at(extra, spec.kernel, state, spec, now, phase)
    tell_rare(HELD, 1)
  end
  if extra.blocked_until > now then
    used = math.max(used, spec.limit * (spec.perRequest or 1))
    reset_at = math.max(reset_at, extra.blocked_until)
  end
  if taken and extra.resets > 0 then tell_rare(RESETS, extra.resets) end
  return used, reset_at
end

-- One limit, cost 1, enforced, nothing held or booked: nearly all there is.
local function decide_plain(k, spec)
  local state = state_of(k, spec, 0)
  if not state then return tell_foreign() end
  local retry, blocked_until = judge(k, state, spec, 1, 0)
  local allowed = retry == 0
  if allowed then
    spec.kernel.take(state, spec, now, 1)
    touch(k, spec)
  elseif blocked_until == 0 then
    retry = strike(k, spec, 1, retry)
  end
  local used, reset_at = describe(k, state, spec, 0, allowed)
  tell(used, reset_at, retry, allowed, blocked_until > 0)
end

local function book(charge, book_ticks)
  local k, spec = charge.k, charge.spec
  local held = extras_of[k] and extras_of[k].held > 0
  if spec.kind ~= 'bucket' or charge.role ~= ENFORCED or charge.blocked_until > 0 or held then return end
  local start, ask_again = spec.kernel.book(charge.state, spec, now, charge.cost, charge.retry, book_ticks)
  charge.booked = start ~= nil
  charge.allowed = charge.booked
  charge.retry = start or ask_again
  if charge.booked then touch(k, spec) end
end

-- An enforced charge is taken if none was refused; a shadow if none but the one it replaces was.
local function passes(charge, charges, refused)
  if charge.role == ENFORCED then return refused == 0 end
  local replaced = charge.role >= 0 and charges[charge.role + 1]
  return charge.allowed and refused == (replaced and replaced.state and not replaced.allowed and 1 or 0)
end

local function take(charge, hold_ticks)
  local k, spec = charge.k, charge.spec
  local holds = hold_ticks > 0 and spec.kind ~= 'slots'
  if charge.booked then return true end
  if charge.cost == 0 and not holds then return false end
  local extra = holds and extras_for(k)
  if holds then extras.add_hold(extra, charge.id, charge.cost, now + hold_ticks)
  else spec.kernel.take(charge.state, spec, now, charge.cost, charge.id) end
  touch(k, spec)
  return true
end

local function decide_all(run)
  local takes, hold_ticks, book_ticks, strikes = run[2] == 1, run[3], run[4], run[5] == 1
  local charges, count, refused = {}, 0, 0
  for at = 6, #run, 6 do
    local k, spec, cost, phase = run[at], specs[run[at + 1]], run[at + 2], run[at + 5]
    if k < 0 then k = values - k end
    local charge = { k = k, spec = spec, cost = cost, role = run[at + 3], id = run[at + 4], phase = phase }
    count = count + 1
    charges[count] = charge
    local state = state_of(k, spec, phase)
    if state then
      charge.state = state
      charge.retry, charge.blocked_until = judge(k, state, spec, cost, phase)
      charge.allowed = charge.retry == 0
      if book_ticks >= 0 then book(charge, book_ticks) end
      if not charge.allowed and charge.role == ENFORCED then refused = refused + 1 end
    end
  end

  for i = 1, count do
    local charge = charges[i]
    if not charge.state then
      tell_foreign()
    else
      local taken = false
      if passes(charge, charges, refused) then
        taken = takes and take(charge, hold_ticks)
      elseif strikes and not charge.allowed and charge.blocked_until == 0 then
        charge.retry = strike(charge.k, charge.spec, charge.cost, charge.retry)
      end
      local used, reset_at = describe(charge.k, charge.state, charge.spec, charge.phase, taken)
      tell(used, reset_at, charge.retry, charge.allowed, charge.blocked_until > 0)
    end
  end
end

local runs = call.runs
for r = 1, #runs do
  local run = runs[r]
  if run[1] == 0 then
    decide_all(run)
  else
    local spec = specs[run[1]]
    for i = 2, #run do
      local k = run[i]
      decide_plain(k < 0 and values - k or k, spec)
    end
  end
end

return answer(table.concat(reply) .. table.concat(rare))
