-- A level that drains: twin of algorithms/bucket.ts. The level is kept with its tick and with the units of its rate, so
-- that a key whose rate changes keeps what it has used.
-- Bytes: per_request, per_tick, level, at, and the tick until which the key is kept (doubles).

-- @part drain
-- If the clock was set back, the same time does not drain twice.
if now > at then
  level = level - (now - at) * per_tick
  if level < 0 then level = 0 end
  at = now
end

-- @part count
local value, level, at, kept_until = found[k]
if value then
  if #value ~= 41 then only_counts = false break end
  local letter, old_request, old_tick
  letter, old_request, old_tick, level, at, kept_until = unpack_bytes('<Bddddd', value)
  if old_request ~= step or old_tick ~= per_tick or letter ~= 66 then only_counts = false break end
  -- @include kernels/bucket:drain
  if at > now then
    if elsewhere == NONE then elsewhere = {} end
    elsewhere[k] = at
  end
else
  level, kept_until = 0, 0
  missing[#missing + 1] = keys[k]
end
used = level + step
if sums then used = level + sums[k - 1] * step end
if used / per_tick > kept_until - now then
  if whole == NONE then whole = {} end
  whole[k] = true
end

-- @part judge
-- How many ticks from now `units` more fit.
wait = units > full and NEVER or max(0, ceil((used + units - full) / per_tick))

-- @part write
local at = elsewhere[k] or now
if not whole[k] then
  call_redis('SETRANGE', keys[k], '17', pack('<dd', used, at))
else
  -- The key is kept twice as long as needed, so that most changes need not set its expiry again. Most buckets were empty,
  -- and all of those get the same expiry.
  if used ~= same_used or at ~= now then
    local keep = ceil(2 * used / span / 1000000)
    same_used = at == now and used
    bytes = pack('<Bddddd', 66, step, span, used, at, now + keep * 1000000)
    seconds = string.format('%d', keep + SPARE_SECONDS)
  end
  call_redis('SETEX', keys[k], seconds, bytes)
end

-- @part kernel
function makers.bucket()
  local kernel = { letter = 'B' }

  function kernel.fresh(spec, now)
    return { level = 0, at = now, per_request = spec.perRequest, per_tick = spec.perTick }
  end

  function kernel.read(value, from)
    if #value - from ~= 39 then return nil end
    local per_request, per_tick, level, at = unpack_bytes('<dddd', value, from)
    return { level = level, at = at, per_request = per_request, per_tick = per_tick }
  end

  function kernel.write(state, until_tick)
    return pack('<ddddd', state.per_request, state.per_tick, state.level, state.at, until_tick)
  end

  function kernel.locate(state, spec, now)
    local level, at, per_tick = state.level, state.at, state.per_tick
    -- @include kernels/bucket:drain
    state.at = at
    if state.per_request ~= spec.perRequest or state.per_tick ~= spec.perTick then
      level = ceil(level / state.per_request * spec.perRequest)
      state.per_request, state.per_tick = spec.perRequest, spec.perTick
    end
    state.level = level
  end

  function kernel.judge(state, spec, now, cost)
    local used, per_tick, wait = state.level, spec.perTick, nil
    local units, full = cost * spec.perRequest, spec.limit * spec.perRequest
    -- @include kernels/bucket:judge
    return wait == 0 and 0 or now + wait
  end

  function kernel.take(state, spec, _, cost)
    state.level = state.level + cost * spec.perRequest
  end

  function kernel.describe(state, spec, now)
    return state.level, now + ceil(state.level / spec.perTick)
  end

  function kernel.refund(state, spec, now, cost, at)
    local back = cost * spec.perRequest - max(0, now - at) * spec.perTick
    if back > 0 then state.level = max(0, state.level - back) end
  end

  function kernel.credit(state, spec, _, cost)
    state.level = max(0, state.level - cost * spec.perRequest)
  end

  function kernel.counted(state, spec)
    return ceil(state.level / spec.perRequest)
  end

  function kernel.span(spec)
    return ceil(spec.limit * spec.perRequest / spec.perTick)
  end

  function kernel.copy(state)
    return { level = state.level, at = state.at, per_request = state.per_request, per_tick = state.per_tick }
  end

  function kernel.numbers(state)
    return { state.level }
  end

  -- Books a start within `book_ticks`. Returns the tick it starts at, or nil and the first tick to ask again.
  function kernel.book(state, spec, now, cost, retry, book_ticks)
    local ahead = spec.queue and state.level or state.level + cost * spec.perRequest - spec.limit * spec.perRequest
    local start = ahead <= 0 and now or now + ceil(ahead / spec.perTick)
    local fits
    if spec.queue then fits = retry == 0 else fits = retry < NEVER end
    if fits and start - now <= book_ticks and state.level < 2 ^ 51 then
      -- The cost counts from the start on. The bucket may run dry before, and that time must not earn extra room.
      if not spec.queue then state.level = max(state.level, (start - now) * spec.perTick) end
      kernel.take(state, spec, now, cost)
      return start
    end
    return nil, fits and max(retry, start - book_ticks) or retry
  end

  return kernel
end
