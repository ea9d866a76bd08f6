-- The short way of a sliding window: see kernels.lua.

-- With two counters only: the one of now, and the one before.
function plain.sliding(value, spec, now, cost)
  if spec.buckets ~= 1 then return end
  local sub_ticks, limit = spec.subTicks, spec.limit
  local index, current, previous, keep = math.floor(now / sub_ticks), 0, 0, true
  if value then
    if #value ~= 25 then return end
    local letter, newest, even, odd = unpack_bytes('<Bddd', value)
    if letter ~= 83 then return end
    if index < newest then index = newest end
    local is_even = newest % 2 == 0
    if index == newest then
      current, previous = is_even and even or odd, is_even and odd or even
      keep = current == 0
    elseif index == newest + 1 then
      previous = is_even and even or odd
    end
  end
  local into = now - index * sub_ticks
  if into < 0 then into = 0 end
  local used = mul_div_ceil(previous, sub_ticks - into, sub_ticks) + current
  local reset_at = now
  if current > 0 then reset_at = (index + 2) * sub_ticks
  elseif previous > 0 then reset_at = math.max(now, (index + 1) * sub_ticks) end
  if used + cost > limit then
    if cost > limit then return NEVER, used, reset_at end
    local free, oldest = limit - cost - current, previous
    if free < 0 then free, oldest, index = limit - cost, current, index + 1 end
    local wait = free >= oldest and 0 or sub_ticks - mul_div_floor(sub_ticks, free, oldest)
    return math.max(now, index * sub_ticks + wait), used, reset_at
  end
  current = current + cost
  local is_even = index % 2 == 0
  local bytes = pack('<Bddd', 83, index, is_even and current or previous, is_even and previous or current)
  local reset_after = (index + 2) * sub_ticks
  return 0, used, reset_at, bytes, used + cost, reset_after, keep and reset_after
end
