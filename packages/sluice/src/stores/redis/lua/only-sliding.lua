-- The sliding windows of a call: sliding-plain.lua in a loop.

local index = math.floor(now / sub_ticks)
local inside_index = (index + 1) * sub_ticks - now
local kept_ticks, kept_seconds
for i = 2, last do
  local newest, even, odd = unpack_bytes('<ddd', found[i], 2)
  local window, inside, current, previous = index, inside_index, 0, 0
  if newest >= index then
    if newest > index then window, inside = newest, sub_ticks end -- the clock was set back
    if newest % 2 == 0 then current, previous = even, odd else current, previous = odd, even end
  elseif newest == index - 1 then
    previous = newest % 2 == 0 and even or odd
  end
  used = current
  if previous > 0 then
    if previous * inside < EXACT then
      used = used + math.ceil(previous * inside / sub_ticks)
    else
      local quotient, remainder = long_division(previous, inside, sub_ticks)
      used = used + (remainder > 0 and quotient + 1 or quotient)
    end
  end
  local left, is_changed, is_first = counts and counts[i - 1] or 1, false, current == 0
  repeat
    ticks = (window + 2) * sub_ticks - now
    if used < limit then
      used = used + 1
      current = current + 1
      code = 1
      is_changed = true
    else
      local free, oldest, from = limit - 1 - current, previous, window
      if free < 0 then free, oldest, from = limit - 1, current, window + 1 end
      local wait = 0
      if free < oldest then
        local product = sub_ticks * free
        wait = sub_ticks - (product < EXACT and math.floor(product / oldest) or long_division(sub_ticks, free, oldest))
      end
      code = limit == 0 and -1 or math.max(0, from * sub_ticks + wait - now) * 4
      if current == 0 then ticks = previous == 0 and 0 or math.max(0, ticks - sub_ticks) end
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
    local is_even = window % 2 == 0
    if is_first then
      if ticks ~= kept_ticks then
        kept_ticks, kept_seconds = ticks, string.format('%.0f', math.ceil(ticks / 1000000) + SPARE_SECONDS)
      end
      local bytes = pack('<Bddd', 83, window, is_even and current or previous, is_even and previous or current)
      call_redis('SETEX', keys[i], kept_seconds, bytes)
    else
      call_redis('SETRANGE', keys[i], is_even and '9' or '17', pack('<d', current))
    end
  end
end
