-- The fixed windows of a call: fixed-plain.lua in a loop. `used` is the count.

local window_end = align == 'first' and now + window_ticks or (math.floor(now / window_ticks) + 1) * window_ticks
local seconds
for i = 2, last do
  local end_at
  used, end_at = unpack_bytes('<dd', found[i], 2)
  local is_over = now >= end_at
  if is_over then used, end_at = 0, window_end end
  local left, is_changed = counts and counts[i - 1] or 1, false
  repeat
    ticks = end_at - now
    if used < limit then
      used = used + 1
      code = 1
      is_changed = true
    else
      code = limit == 0 and -1 or ticks * 4
      if used == 0 then ticks = 0 end
    end
    if reply then
      reply[at + 1] = used
      reply[at + 2] = ticks
      at = at + 3
      reply[at] = code
    end
    left = left - 1
  until left == 0
  if is_changed then
    if is_over then
      if not seconds then seconds = string.format('%.0f', math.ceil(ticks / 1000000) + SPARE_SECONDS) end
      call_redis('SETEX', keys[i], seconds, pack('<Bdd', 70, used, end_at))
    else
      call_redis('SETRANGE', keys[i], '1', pack('<d', used))
    end
  end
end
