-- The arithmetic of a sliding window of two counters, for cost 1.

-- What the counter before weighs, with so many ticks of it inside the window: rounded up.
local function sliding_weight(previous, inside, sub_ticks)
  if previous * inside < EXACT then return math.ceil(previous * inside / sub_ticks) end
  local quotient, remainder = long_division(previous, inside, sub_ticks)
  return remainder > 0 and quotient + 1 or quotient
end

-- Ticks until there is room in a full one, seen from now in sub-window `index`.
local function sliding_wait(limit, sub_ticks, index, current, previous)
  local free, oldest = limit - 1 - current, previous
  if free < 0 then free, oldest, index = limit - 1, current, index + 1 end
  local wait = 0
  if free < oldest then
    local product = sub_ticks * free
    wait = sub_ticks - (product < EXACT and math.floor(product / oldest) or long_division(sub_ticks, free, oldest))
  end
  return math.max(0, index * sub_ticks + wait - now)
end
