-- Twin of algorithms/sliding-window.ts: the index of the newest sub-window counted in, and a ring of k + 1 counts, where
-- sub-window n stands at n mod (k + 1).
-- Bytes: newest, then the ring (doubles).

function kernels.sliding()
  local kernel = { letter = 'S' }
  local floor, max, fmod = math.floor, math.max, math.fmod

  local function count_of(state, n)
    local newest = state.newest
    if n < 0 or n > newest or n < newest - state.buckets then return 0 end
    return state[fmod(n, state.buckets + 1)]
  end

  local function whole_count(state, index)
    local sum = 0
    for n = index - state.buckets + 1, index do sum = sum + count_of(state, n) end
    return sum
  end

  local function used(state, spec, now)
    local sub_ticks = spec.subTicks
    local index = max(floor(now / sub_ticks), state.newest)
    local inside = sub_ticks - max(0, now - index * sub_ticks)
    local oldest = count_of(state, index - spec.buckets)
    return mul_div_ceil(oldest, inside, sub_ticks) + whole_count(state, index)
  end

  function kernel.fresh(spec)
    local state = { newest = 0, buckets = spec.buckets }
    for i = 0, spec.buckets do state[i] = 0 end
    return state
  end

  function kernel.read(value, from, _, spec)
    local cells = spec.buckets + 2
    if #value - from ~= cells * 8 - 1 then return nil end
    if cells == 3 then
      local newest, even, odd = struct.unpack('<ddd', value, from)
      return { newest = newest, buckets = 1, [0] = even, [1] = odd }
    end
    local numbers = { struct.unpack('<' .. string.rep('d', cells), value, from) }
    local state = { newest = numbers[1], buckets = spec.buckets }
    for i = 0, spec.buckets do state[i] = numbers[i + 2] end
    return state
  end

  function kernel.write(state)
    if state.buckets == 1 then return struct.pack('<ddd', state.newest, state[0], state[1]) end
    return struct.pack('<d' .. string.rep('d', state.buckets + 1), state.newest, unpack(state, 0, state.buckets))
  end

  function kernel.locate() end

  function kernel.judge(state, spec, now, cost)
    if used(state, spec, now) + cost <= spec.limit then return 0 end
    if cost > spec.limit then return NEVER end
    -- Walks the coming sub-windows until the weight of the oldest can fall far enough inside one of them.
    local sub_ticks = spec.subTicks
    local index = max(floor(now / sub_ticks), state.newest)
    while true do
      local free = spec.limit - cost - whole_count(state, index)
      if free >= 0 then
        local oldest = count_of(state, index - spec.buckets)
        local wait = free >= oldest and 0 or sub_ticks - mul_div_floor(sub_ticks, free, oldest)
        return max(now, index * sub_ticks + wait)
      end
      index = index + 1
    end
  end

  function kernel.take(state, spec, now, cost)
    local ring = state.buckets + 1
    local index = max(floor(now / spec.subTicks), state.newest)
    -- Sub-windows skipped since the last charge held nothing; their places in the ring still hold older counts.
    for n = max(state.newest + 1, index - state.buckets), index do state[fmod(n, ring)] = 0 end
    state.newest = index
    local place = fmod(index, ring)
    state[place] = state[place] + cost
  end

  -- The tick at which the weight of the newest count reaches zero.
  function kernel.describe(state, spec, now)
    local whole_at = now
    for n = state.newest, state.newest - state.buckets, -1 do
      if count_of(state, n) > 0 then
        whole_at = max(now, (n + state.buckets + 1) * spec.subTicks)
        break
      end
    end
    return used(state, spec, now), whole_at
  end

  function kernel.refund(state, spec, _, cost, at)
    local n = floor(at / spec.subTicks)
    local count = count_of(state, n)
    if count > 0 then state[fmod(n, state.buckets + 1)] = max(0, count - cost) end
  end

  -- Taken from the newest counts first.
  function kernel.credit(state, _, _, cost)
    local left = cost
    for n = state.newest, state.newest - state.buckets, -1 do
      if left <= 0 then return end
      local count = count_of(state, n)
      local back = math.min(count, left)
      if back > 0 then state[fmod(n, state.buckets + 1)] = count - back end
      left = left - back
    end
  end

  function kernel.span(spec)
    return spec.subTicks * (spec.buckets + 1)
  end

  function kernel.kept_until(state, spec, now)
    local _, reset_at = kernel.describe(state, spec, now)
    return reset_at
  end

  function kernel.counted(state, spec, now)
    return used(state, spec, now)
  end

  function kernel.copy(state)
    local copy = { newest = state.newest, buckets = state.buckets }
    for i = 0, state.buckets do copy[i] = state[i] end
    return copy
  end

  function kernel.numbers(state)
    return { state.newest, unpack(state, 0, state.buckets) }
  end

  return kernel
end
