-- Changes that no limit can refuse. Each is [what, k, s, phase, cost, …]: key k, spec s, the phase of windows that start by
-- their key, and, by what:
--   'refund'   at, resets, window_end: takes back a charge made at tick `at`, before the key's next reset
--   'credit'   gives cost back
--   'penalize' takes cost without asking the limit
--   'set'      counts cost in place of what is counted, reservations included
--   'release'  id: gives a slot back
--   'renew'    id: holds a slot for another ttl
--   'settle'   id, actual, expiry, resets: ends a reservation of cost
--   'reset'    forgets the key
--   'block'    ticks: refuses the key for that many ticks
--   'unblock'  ends a block, and forgets how many there have been
-- It answers the cost that a penalty or settlement charged (-1: no reservation of that id), 1 if a slot was still held,
-- -3 if the value is foreign. Other answers mean nothing.

local change
do
  local UNKNOWN = -1
  local changes = {}

  -- If nothing is counted, there is nothing to give back or to write.
  local function is_empty(spec, state)
    return kernel_of(spec.kind).describe(state, spec, now) == 0
  end

  function changes.refund(k, spec, state, cost, at, resets, window_end)
    local extra = states.extra_of(k)
    local known = extra and extra.resets or 0
    if known ~= resets or is_empty(spec, state) then return 0 end
    states.touch(k, spec)
    kernel_of(spec.kind).refund(state, spec, now, cost, at, window_end)
    return cost
  end

  function changes.credit(k, spec, state, cost)
    if is_empty(spec, state) then return 0 end
    states.touch(k, spec)
    kernel_of(spec.kind).credit(state, spec, now, cost)
    return cost
  end

  -- Charges without refusal until the limit is overdrawn by a whole one, but at least `least`.
  local function charge(k, spec, state, cost, least)
    local kernel, extra = kernel_of(spec.kind), states.extra_of(k)
    local room = 2 * spec.limit - kernel.counted(state, spec, now) - (extra and extra.held or 0)
    local charged = max(0, min(cost, max(least, room)))
    states.touch(k, spec)
    if charged > 0 then kernel.take(state, spec, now, charged) end
    return charged
  end

  function changes.penalize(k, spec, state, cost)
    return charge(k, spec, state, cost, 0)
  end

  function changes.set(k, spec, state, used)
    local kernel, extra = kernel_of(spec.kind), states.extra_of(k)
    states.touch(k, spec)
    kernel.credit(state, spec, now, NEVER)
    local counted = used - (extra and extra.held or 0)
    if counted > 0 then kernel.take(state, spec, now, counted) end
    return 0
  end

  function changes.release(k, spec, state, _, id)
    states.touch(k, spec)
    return kernel_of(spec.kind).release(state, id)
  end

  function changes.renew(k, spec, state, _, id)
    states.touch(k, spec)
    return kernel_of(spec.kind).renew(state, spec, now, id)
  end

  -- An excess over the reservation is charged without refusal, until the limit is overdrawn by a whole one. A second
  -- settlement within a minute gets the same answer. Only the owner knows a reservation of cost 0, so it sends the
  -- expiry and how often the key had been reset.
  function changes.settle(k, spec, state, cost, id, actual, expiry, resets)
    local extra, record = states.extra_of(k), string.match(keys[k], '^{%d+}') .. '#settled:' .. string.format('%.0f', id)
    local held = cost > 0 and extra and extras.drop_hold(extra, id, cost, now)
    if not held then
      local settled = call_redis('GET', record)
      if settled then return unpack_bytes('<d', settled) end
      if cost > 0 then return UNKNOWN end
      if now >= expiry or (extra and extra.resets or 0) ~= resets then return 0 end
    end
    local charged = charge(k, spec, state, actual, cost)
    call_redis('SETEX', record, '60', pack('<d', charged))
    return charged
  end

  -- The store remembers a reset for as long as a charge from before it could be refunded.
  function changes.reset(k, spec)
    local extra = states.extra_of(k)
    local resets = extra and extra.resets or 0
    if extra and extra.count > 0 then call_redis('DEL', extra.holds_key) end
    states.replace(k, kernel_of(spec.kind).fresh(spec, now))
    states.need_extra(k).resets = resets + 1
    states.touch(k, spec)
    return 0
  end

  function changes.block(k, spec, _, _, ticks)
    local extra = states.need_extra(k)
    states.touch(k, spec)
    extra.blocked_until = now + ticks
    if extra.forget_at <= now then extra.strikes = 0 end
    extra.forget_at = max(now + ticks, extra.forget_at)
    return ticks
  end

  function changes.unblock(k, spec)
    local extra = states.extra_of(k)
    if not extra then return 0 end
    states.touch(k, spec)
    extra.blocked_until, extra.strikes, extra.forget_at = 0, 0, 0
    return 0
  end

  function change(item)
    local what, k, spec = item[1], item[2], specs[item[3]]
    local state = states.at(k, spec, item[4])
    if not state then return FOREIGN end
    return changes[what](k, spec, state, item[5], item[6], item[7], item[8], item[9])
  end
end
