-- What a few keys have beside their count: a block, reservations, and how often the key was reset.
--
-- The extras are 60 bytes before the count: the number of reservations (u32), then resets, blocked until, strikes, when
-- to forget the strikes, the sum of what is reserved, the first and the last tick at which a reservation expires
-- (doubles).
--
-- The reservations are in a sorted set of their own, by expiry, so that a call reads only those that expire and the few
-- that tell a retry. Its name is the key's with `#` after the tag, which no other name has, so it is in the same slot.
-- A member is id and cost (doubles).

-- Twins of MOST_HOLDS and HOLDS_PLAYED in stores/store.ts.
local MOST_HOLDS, HOLDS_PLAYED = 16384, 32
-- How many of one key's expired reservations a call charges. The rest stays reserved until the next call.
local MOST_EXPIRED = 256
-- The letter is included.
local EXTRAS_END = 61

local extras = {}
do
  local format = string.format

  function extras.none(key)
    local holds_key = string.gsub(key, '}', '}#', 1)
    return {
      resets = 0, blocked_until = 0, strikes = 0, forget_at = 0, count = 0, held = 0, next_expiry = 0, last_expiry = 0,
      holds_key = holds_key,
    }
  end

  -- If the set of reservations is foreign, so is the key.
  function extras.is_ours(extra)
    local kind = call_redis('TYPE', extra.holds_key).ok
    return kind == 'zset' or kind == 'none'
  end

  function extras.read(value, key)
    if #value < EXTRAS_END then return nil end
    local extra = extras.none(key)
    extra.count, extra.resets, extra.blocked_until, extra.strikes, extra.forget_at, extra.held, extra.next_expiry,
      extra.last_expiry = unpack_bytes('<Iddddddd', value, 2)
    if extra.count > 0 and not extras.is_ours(extra) then return nil end
    return extra, EXTRAS_END + 1
  end

  local function bytes_of(extra)
    return pack('<Iddddddd', extra.count, extra.resets, extra.blocked_until, extra.strikes, extra.forget_at,
      extra.held, extra.next_expiry, extra.last_expiry)
  end

  -- Twin of memory/blocks.ts: a refusal starts a block, each longer than the last.
  function extras.strike(extra, block, now)
    local strikes = extra.forget_at <= now and 0 or extra.strikes
    local ticks = ceil(min(block.max, block.first * block.factor ^ strikes))
    extra.blocked_until = now + ticks
    extra.strikes = strikes + 1
    extra.forget_at = now + ticks + (block.factor > 1 and block.max or 0)
  end

  -- Twin of memory/holds.ts: a reserved amount does not drain, and is charged in full when it expires.
  function extras.add_hold(extra, id, cost, expiry)
    -- Deletes reservations that outlived their key's value.
    if extra.count == 0 then call_redis('DEL', extra.holds_key) end
    call_redis('ZADD', extra.holds_key, format('%.0f', expiry), pack('<dd', id, cost))
    extra.next_expiry = extra.count == 0 and expiry or min(expiry, extra.next_expiry)
    extra.last_expiry = extra.count == 0 and expiry or max(expiry, extra.last_expiry)
    extra.count = extra.count + 1
    extra.held = extra.held + cost
    extra.soonest = nil
  end

  -- Updates the extras after some reservations are gone.
  local function count_again(extra)
    local first = call_redis('ZRANGE', extra.holds_key, 0, 0, 'WITHSCORES')
    extra.soonest = nil
    extra.count = call_redis('ZCARD', extra.holds_key)
    if extra.count == 0 then extra.held, extra.last_expiry = 0, 0 end
    extra.next_expiry = (first[2] or 0) + 0
  end

  -- Returns true if a reservation of that id was there and had not expired.
  function extras.drop_hold(extra, id, cost, now)
    local member = pack('<dd', id, cost)
    local expiry = call_redis('ZSCORE', extra.holds_key, member)
    if not expiry or expiry + 0 <= now then return false end
    call_redis('ZREM', extra.holds_key, member)
    extra.held = max(0, extra.held - cost)
    count_again(extra)
    return true
  end

  -- Charges what has expired, as of its expiry. Returns true if there was any. Once per call, because time stands still
  -- in it.
  function extras.expire_holds(extra, kernel, state, spec, now, phase)
    if extra.expired or extra.count == 0 or extra.next_expiry > now then return false end
    extra.expired = true
    local due = call_redis('ZRANGEBYSCORE', extra.holds_key, '-inf', format('%.0f', now), 'WITHSCORES',
      'LIMIT', 0, MOST_EXPIRED)
    for i = 1, #due, 2 do
      local _, cost = unpack_bytes('<dd', due[i])
      local expiry = due[i + 1] + 0
      kernel.locate(state, spec, expiry, phase)
      kernel.take(state, spec, expiry, cost)
      extra.held = max(0, extra.held - cost)
    end
    if #due > 0 then call_redis('ZREMRANGEBYRANK', extra.holds_key, 0, #due / 2 - 1) end
    count_again(extra)
    return true
  end

  -- The reservations up to this rank, in order of expiry.
  local function up_to(extra, rank)
    local found, holds = call_redis('ZRANGE', extra.holds_key, 0, rank, 'WITHSCORES'), {}
    for i = 1, #found, 2 do
      local _, cost = unpack_bytes('<dd', found[i])
      holds[#holds + 1] = { cost = cost, expiry = found[i + 1] + 0 }
    end
    return holds
  end

  function extras.all(extra)
    return up_to(extra, -1)
  end

  -- The reservations that expire first, in that order.
  local function soonest(extra)
    if not extra.soonest then extra.soonest = up_to(extra, HOLDS_PLAYED - 1) end
    return extra.soonest
  end

  -- Twins of memory/holds-played.ts: they simulate what happens if no reservation is settled.

  -- The first tick at which `cost` passes beside the reservations, or the earliest at which it may. `retry` is the
  -- kernel's answer while all of them stay reserved.
  function extras.retry_at(extra, kernel, state, spec, now, cost, phase, retry)
    local held, at = extra.held, now
    if cost > spec.limit then return NEVER end
    if spec.kind == 'log' then
      if cost + held <= spec.limit then return retry end
      for _, hold in ipairs(soonest(extra)) do
        at = hold.expiry
        held = held - hold.cost
        if cost + held <= spec.limit then break end
      end
      return max(at, now) + spec.windowTicks
    end
    local future = kernel.copy(state)
    local function pass_at()
      kernel.locate(future, spec, at, phase)
      local passes = kernel.judge(future, spec, at, cost + held)
      return passes == 0 and at or passes
    end
    for _, hold in ipairs(soonest(extra)) do
      local passes = pass_at()
      if passes <= hold.expiry then return passes end
      kernel.locate(future, spec, hold.expiry, phase)
      kernel.take(future, spec, hold.expiry, hold.cost)
      held = held - hold.cost
      at = hold.expiry
    end
    return extra.count > HOLDS_PLAYED and max(at, now + 1) or pass_at()
  end

  -- The tick at which nothing is left. Reservations beyond the simulated ones count as if they expired with the last of
  -- those.
  function extras.reset_at(extra, kernel, state, spec, now, phase)
    local played, rest = soonest(extra), extra.held
    local last = extra.count > HOLDS_PLAYED and extra.last_expiry or played[#played].expiry
    if spec.kind == 'log' then return last + spec.windowTicks end
    local future = kernel.copy(state)
    for _, hold in ipairs(played) do
      kernel.locate(future, spec, hold.expiry, phase)
      kernel.take(future, spec, hold.expiry, hold.cost)
      rest = rest - hold.cost
    end
    kernel.locate(future, spec, last, phase)
    if rest > 0 then kernel.take(future, spec, last, rest) end
    local _, reset_at = kernel.describe(future, spec, last)
    return reset_at
  end

  -- The tick until which a key must be kept: from then on a fresh key would behave the same.
  local function kept_until(extra, kernel, state, spec, now, phase)
    local tick = fresh_from(kernel, state, spec, now)
    if extra.count > 0 then tick = max(tick, extras.reset_at(extra, kernel, state, spec, now, phase)) end
    -- A charge from before a reset must not be refunded after it, so the reset is remembered as long as that could
    -- happen.
    if extra.resets > 0 then tick = max(tick, now + kernel.span(spec)) end
    return max(tick, extra.blocked_until, extra.forget_at)
  end

  local function is_over(extra, now)
    return extra.resets == 0 and extra.forget_at <= now and extra.blocked_until <= now and extra.count == 0
  end

  -- Writes a key that has extras, or had them until now. If a log had them before, only what is new is written.
  function extras.write(extra, kernel, state, spec, now, phase, key)
    local until_tick = kept_until(extra, kernel, state, spec, now, phase)
    local ttl, over = ttl_text(until_tick - now), is_over(extra, now)
    if not over and state.slots == EXTRAS_END + LOG_HEADER - 1 and kernel.write_in_place(state, spec) then
      call_redis('SETRANGE', key, 0, kernel.letter:lower() .. bytes_of(extra))
      call_redis('EXPIRE', key, ttl)
    else
      local bytes = kernel.write(state, until_tick)
      if not over then bytes = bytes_of(extra) .. bytes end
      call_redis('SETEX', key, ttl, (over and kernel.letter or kernel.letter:lower()) .. bytes)
    end
    if extra.count > 0 then call_redis('EXPIRE', extra.holds_key, ttl) end
  end

end
