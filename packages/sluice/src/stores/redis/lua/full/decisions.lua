-- One decision with all its possible parts: blocks, reservations, bookings, shadows that replace, slots and logs.

local RESETS, HELD, TOO_MANY_HOLDS = 1, 2, 3
local decide
do

  local function tell_all(used, reset_at, retry, allowed, blocked)
    local code
    if allowed and retry == 0 then code = 1
    elseif retry == NEVER then code = blocked and NEVER_BLOCKED or NEVER_PASSES
    else code = (retry - now) * 4 + (allowed and 1 or 0) + (blocked and 2 or 0) end
    tell(used, reset_at, code)
  end

  -- The verdict on one charge: retry (0 if it passes), and the tick at which its block ends, 0 without one.
  local function judge(charge)
    local kernel, extra, spec, cost = charge.kernel, states.extra_of(charge.k), charge.spec, charge.cost
    if not extra then return kernel.judge(charge.state, spec, now, cost), 0 end
    local retry = kernel.judge(charge.state, spec, now, cost + extra.held)
    if retry ~= 0 and extra.held > 0 then
      retry = extras.retry_at(extra, kernel, charge.state, spec, now, cost, charge.phase, retry)
    end
    if extra.blocked_until <= now then return retry, 0 end
    return max(retry, extra.blocked_until), extra.blocked_until
  end

  -- Refuses a reservation that the limit admits if the key has too many.
  local function judge_hold(charge)
    local extra = states.extra_of(charge.k)
    if not extra or extra.count < MOST_HOLDS then return end
    charge.too_many = true
    charge.retry = max(extra.next_expiry, now + 1)
  end

  -- A refusal by the limit itself starts its block. A cost that can never pass starts none: it is a mistake, not an
  -- attack.
  local function strike(charge)
    local k, spec = charge.k, charge.spec
    if not spec.block or charge.cost > spec.limit or charge.blocked_until > 0 or charge.too_many then return end
    local extra = states.need_extra(k)
    extras.strike(extra, spec.block, now)
    states.touch(k, spec)
    charge.retry = max(charge.retry, extra.blocked_until)
  end

  local function book(charge, book_ticks)
    local k, spec, extra = charge.k, charge.spec, states.extra_of(charge.k)
    local held = extra and extra.held > 0
    if spec.kind ~= 'bucket' or charge.role ~= ENFORCED or charge.blocked_until > 0 or held then return end
    local start, ask_again = charge.kernel.book(charge.state, spec, now, charge.cost, charge.retry, book_ticks)
    charge.booked = start ~= nil
    charge.allowed = charge.booked
    charge.retry = start or ask_again
    if charge.booked then states.touch(k, spec) end
  end

  -- An enforced charge is taken if none was refused; a shadow if none was, except the one it replaces.
  local function passes(charge, charges, refused)
    if charge.role == ENFORCED then return refused == 0 end
    local replaced = charge.role >= 0 and charges[charge.role + 1]
    return charge.allowed and refused == (replaced and replaced.state and not replaced.allowed and 1 or 0)
  end

  local function take(charge, hold_ticks)
    local k, spec = charge.k, charge.spec
    if charge.booked then return true end
    if charge.cost == 0 then return charge.holds end -- only the owner of a reservation of cost 0 knows it
    if charge.holds then extras.add_hold(states.need_extra(k), charge.id, charge.cost, now + hold_ticks)
    else charge.kernel.take(charge.state, spec, now, charge.cost, charge.id) end
    states.touch(k, spec)
    return true
  end

  local function describe(charge, taken)
    local spec, extra = charge.spec, states.extra_of(charge.k)
    local used, reset_at = charge.kernel.describe(charge.state, spec, now)
    if not extra then return used, reset_at end
    if extra.held > 0 then
      used = used + extra.held * (spec.perRequest or 1)
      reset_at = extras.reset_at(extra, charge.kernel, charge.state, spec, now, charge.phase)
      tell_rare(HELD, 1)
    end
    if extra.blocked_until > now then
      used = max(used, spec.limit * (spec.perRequest or 1))
      reset_at = max(reset_at, extra.blocked_until)
    end
    if taken and extra.resets > 0 then tell_rare(RESETS, extra.resets) end
    return used, reset_at
  end

  local function charges_of(item)
    local charges = {}
    for at = 5, #item, 6 do
      local k, spec = item[at], specs[item[at + 1]]
      local charge = { k = k, spec = spec, cost = item[at + 2], role = item[at + 3], id = item[at + 4], phase = item[at + 5] }
      charge.state = states.at(k, spec, charge.phase)
      charge.kernel = kernel_of(spec.kind)
      charge.holds = item[2] > 0 and spec.kind ~= 'slots' and charge.id ~= 0
      -- A foreign value may be in the place of its reservations.
      if charge.state and charge.holds and charge.cost > 0 and not states.may_hold(k) then charge.state = nil end
      charges[#charges + 1] = charge
    end
    return charges
  end

  function decide(item)
    local takes, hold_ticks, book_ticks, strikes = item[1] == 1, item[2], item[3], item[4] == 1
    local charges, refused = charges_of(item), 0
    for _, charge in ipairs(charges) do
      if charge.state then
        charge.retry, charge.blocked_until = judge(charge)
        if charge.retry == 0 and charge.holds and charge.cost > 0 then judge_hold(charge) end
        charge.allowed = charge.retry == 0
        if book_ticks >= 0 then book(charge, book_ticks) end
        if not charge.allowed and charge.role == ENFORCED then refused = refused + 1 end
      end
    end
    for _, charge in ipairs(charges) do
      if charge.state then
        local taken = false
        if passes(charge, charges, refused) then taken = takes and take(charge, hold_ticks)
        elseif strikes and not charge.allowed then strike(charge) end
        local used, reset_at = describe(charge, taken)
        if charge.too_many then tell_rare(TOO_MANY_HOLDS, 1) end
        tell_all(used, reset_at, charge.retry, charge.allowed, charge.blocked_until > 0)
      else
        tell(0, now, FOREIGN)
      end
    end
  end
end
