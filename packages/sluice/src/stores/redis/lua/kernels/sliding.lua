-- Twin of algorithms/sliding-window.ts: the index of the newest sub-window that has a count, and a ring of k + 1 counts.
-- Sub-window n is at n mod (k + 1).
-- Bytes: newest, then the ring (doubles).

-- @part weigh
-- The weight of the count before, rounded up, with this many ticks of it still inside.
if previous * inside < EXACT then weight = ceil(previous * inside / span)
else
  local quotient, remainder = mul_div(previous, inside, span)
  weight = remainder > 0 and quotient + 1 or quotient
end

-- @part count
-- Two counters: the current one and the one before.
local value, previous = found[k], 0
if value then
  if #value ~= 25 then only_counts = false break end
  local letter, newest
  letter, newest, used, previous = unpack_bytes('<Bddd', value)
  if letter ~= 83 then only_counts = false break end
  if newest % 2 == 1 then used, previous = previous, used end
  if newest > now_index then
    if elsewhere == NONE then elsewhere = {} end
    elsewhere[k], one_by_one = newest, true -- if the clock was set back, stays in the newest
  elseif newest < now_index then
    used, previous = 0, newest == now_index - 1 and used or 0
  end
else
  missing[#missing + 1] = keys[k]
end
if used == 0 then
  if whole == NONE then whole = {} end
  whole[k] = true
end
if previous > 0 then
  local inside, weight = elsewhere[k] and span or left, 0
  -- @include kernels/sliding:weigh
  if before == NONE then before, weights = {}, {} end
  before[k], weights[k] = previous, weight
  used = used + weight
end
used = used + (sums and sums[k - 1] or 1)

-- @part drain
-- How far into a sub-window the weight of the count before it has fallen to `free`.
if free >= oldest then drained = 0
else
  local product = span * free
  drained = span - (product < EXACT and floor(product / oldest) or (mul_div(span, free, oldest)))
end

-- @part judge
-- With two counters: how many ticks from now `cost` more fits, and until nothing is counted. If the current count leaves
-- no room, the next sub-window does, in which it is the count before.
local index, current, previous = elsewhere[k] or now_index, used - (weights[k] or 0), before[k] or 0
reset = current > 0 and (index + 2) * span - now or previous > 0 and max(0, (index + 1) * span - now) or 0
if cost > full then wait = NEVER
elseif used + cost > full then
  local free, oldest, begins, drained = full - cost - current, previous, index * span, nil
  if free < 0 then free, oldest, begins = full - cost, current, begins + span end
  -- @include kernels/sliding:drain
  wait = max(0, begins + drained - now)
end

-- @part write
local index, current, previous = elsewhere[k] or now_index, used - (weights[k] or 0), before[k] or 0
local is_even = index % 2 == 0
-- A state that lies in the future already has a long enough expiry.
if not whole[k] or elsewhere[k] then
  call_redis('SETRANGE', keys[k], is_even and '9' or '17', pack('<d', current))
else
  local bytes = pack('<Bddd', 83, index, is_even and current or previous, is_even and previous or current)
  call_redis('SETEX', keys[k], seconds, bytes)
end

-- @part kernel
function makers.sliding()
  local kernel = { letter = 'S' }

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
    local previous, span, weight = count_of(state, index - spec.buckets), sub_ticks, 0
    local inside = sub_ticks - max(0, now - index * sub_ticks)
    -- @include kernels/sliding:weigh
    return weight + whole_count(state, index)
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
      local newest, even, odd = unpack_bytes('<ddd', value, from)
      return { newest = newest, buckets = 1, [0] = even, [1] = odd }
    end
    local numbers = { unpack_bytes('<' .. string.rep('d', cells), value, from) }
    local state = { newest = numbers[1], buckets = spec.buckets }
    for i = 0, spec.buckets do state[i] = numbers[i + 2] end
    return state
  end

  function kernel.write(state)
    if state.buckets == 1 then return pack('<ddd', state.newest, state[0], state[1]) end
    return pack('<d' .. string.rep('d', state.buckets + 1), state.newest, unpack(state, 0, state.buckets))
  end

  function kernel.locate() end

  function kernel.judge(state, spec, now, cost)
    if used(state, spec, now) + cost <= spec.limit then return 0 end
    if cost > spec.limit then return NEVER end
    -- Searches the coming sub-windows for the first in which the weight of the oldest falls far enough.
    local sub_ticks = spec.subTicks
    local index = max(floor(now / sub_ticks), state.newest)
    while true do
      local free = spec.limit - cost - whole_count(state, index)
      if free >= 0 then
        local oldest, span, drained = count_of(state, index - spec.buckets), sub_ticks, nil
        -- @include kernels/sliding:drain
        return max(now, index * sub_ticks + drained)
      end
      index = index + 1
    end
  end

  function kernel.take(state, spec, now, cost)
    local ring = state.buckets + 1
    local index = max(floor(now / spec.subTicks), state.newest)
    -- Sub-windows skipped since the last charge are empty, but their places in the ring still hold older counts.
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
      local back = min(count, left)
      if back > 0 then state[fmod(n, state.buckets + 1)] = count - back end
      left = left - back
    end
  end

  function kernel.span(spec)
    return spec.subTicks * (spec.buckets + 1)
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
