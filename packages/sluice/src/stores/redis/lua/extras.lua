-- What few keys have beside their count: a block, reservations, and how often the key was reset.
--
-- Made only when a key has some: most calls never need it.
--
-- The bytes stand before the count's: how many reservations (u32), then resets, blocked until, strikes, when to forget
-- the strikes, then each reservation's id, cost and expiry, soonest expiry first (doubles).

local function extras_library()
  local extras = {}

  function extras.read(value)
    if #value < 37 then return nil end
    local count, resets, blocked_until, strikes, forget_at = struct.unpack('<Idddd', value, 2)
    if #value < 37 + count * 24 then return nil end
    local extra = {
      resets = resets, blocked_until = blocked_until, strikes = strikes, forget_at = forget_at, holds = {}, held = 0,
    }
    for i = 1, count do
      local id, cost, expiry = struct.unpack('<ddd', value, 14 + i * 24)
      extra.holds[i] = { id = id, cost = cost, expiry = expiry }
      extra.held = extra.held + cost
    end
    return extra, 38 + count * 24
  end

  local function bytes_of(extra)
    local bytes = { struct.pack('<Idddd', #extra.holds, extra.resets, extra.blocked_until, extra.strikes, extra.forget_at) }
    for i, hold in ipairs(extra.holds) do bytes[i + 1] = struct.pack('<ddd', hold.id, hold.cost, hold.expiry) end
    return table.concat(bytes)
  end

  function extras.none()
    return { resets = 0, blocked_until = 0, strikes = 0, forget_at = 0, holds = {}, held = 0 }
  end

  -- Twin of memory/blocks.ts: a refusal starts a block, each longer than the last.
  function extras.strike(extra, block, now)
    local strikes = extra.forget_at <= now and 0 or extra.strikes
    local ticks = math.ceil(math.min(block.max, block.first * block.factor ^ strikes))
    extra.blocked_until = now + ticks
    extra.strikes = strikes + 1
    extra.forget_at = now + ticks + (block.factor > 1 and block.max or 0)
  end

  -- Twin of memory/holds.ts: what is held does not drain, and expires at what was reserved.
  function extras.add_hold(extra, id, cost, expiry)
    local place = #extra.holds + 1
    while place > 1 and extra.holds[place - 1].expiry > expiry do place = place - 1 end
    table.insert(extra.holds, place, { id = id, cost = cost, expiry = expiry })
    extra.held = extra.held + cost
  end

  function extras.drop_hold(extra, place)
    local hold = table.remove(extra.holds, place)
    extra.held = extra.held - hold.cost
    return hold
  end

  -- Charges what has expired, as of its expiry.
  function extras.expire_holds(extra, kernel, state, spec, now, phase)
    while extra.holds[1] and extra.holds[1].expiry <= now do
      local hold = extras.drop_hold(extra, 1)
      kernel.locate(state, spec, hold.expiry, phase)
      if hold.cost > 0 then kernel.take(state, spec, hold.expiry, hold.cost) end
    end
  end

  -- The first tick at which `cost` passes beside what is held, if nobody settles: as each expires, it drains.
  function extras.retry_at(extra, kernel, state, spec, now, cost, phase)
    local future, held, at = kernel.copy(state), extra.held, now
    local function pass_at()
      kernel.locate(future, spec, at, phase)
      local retry = kernel.judge(future, spec, at, cost + held)
      return retry == 0 and at or retry
    end
    for _, hold in ipairs(extra.holds) do
      local passes = pass_at()
      if passes <= hold.expiry then return passes end
      kernel.locate(future, spec, hold.expiry, phase)
      kernel.take(future, spec, hold.expiry, hold.cost)
      held = held - hold.cost
      at = hold.expiry
    end
    return pass_at()
  end

  -- The tick at which all is gone, if nobody settles.
  function extras.reset_at(extra, kernel, state, spec, now, phase)
    local future, at = kernel.copy(state), now
    for _, hold in ipairs(extra.holds) do
      kernel.locate(future, spec, hold.expiry, phase)
      kernel.take(future, spec, hold.expiry, hold.cost)
      at = hold.expiry
    end
    kernel.locate(future, spec, at, phase)
    local _, reset_at = kernel.describe(future, spec, at)
    return reset_at
  end

  -- The tick until which a key must be kept: until it is as good as a fresh one.
  local function kept_until(extra, kernel, state, spec, now, phase)
    local tick = kernel.kept_until(state, spec, now)
    if extra.holds[1] then tick = math.max(tick, extras.reset_at(extra, kernel, state, spec, now, phase)) end
    -- What was charged before a reset must not be refunded after it: that is known for as long as it could be.
    if extra.resets > 0 then tick = math.max(tick, now + kernel.span(spec)) end
    return math.max(tick, extra.blocked_until, extra.forget_at)
  end

  local function is_over(extra, now)
    return extra.resets == 0 and extra.forget_at <= now and extra.blocked_until <= now and not extra.holds[1]
  end

  -- The bytes of a key that has extras, or had them until now, and how long to keep them.
  function extras.value(extra, kernel, state, spec, now, phase)
    local until_tick = kept_until(extra, kernel, state, spec, now, phase)
    local bytes, ttl = kernel.write(state, until_tick), ttl_text(until_tick - now)
    if is_over(extra, now) then return kernel.letter .. bytes, ttl end
    return kernel.letter:lower() .. bytes_of(extra) .. bytes, ttl
  end

  return extras
end
