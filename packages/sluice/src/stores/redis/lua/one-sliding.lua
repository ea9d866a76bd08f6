-- ARGV[2…]    limit, subTicks

local limit, sub_ticks = args[2] + 0, args[3] + 0
local index, current, previous = math.floor(now / sub_ticks), 0, 0
if value then
  if #value ~= 25 then return pack('<d', NOT_PLAIN) end
  local letter, newest, even, odd = unpack_bytes('<Bddd', value)
  if letter ~= 83 then return pack('<d', NOT_PLAIN) end
  if newest % 2 == 1 then even, odd = odd, even end
  -- A clock that was set back stays in the newest.
  if newest >= index then index, current, previous = newest, even, odd
  elseif newest == index - 1 then previous = even end
end
local used = current
if previous > 0 then
  used = used + sliding_weight(previous, math.min((index + 1) * sub_ticks - now, sub_ticks), sub_ticks)
end

local answer
local ticks = (index + 2) * sub_ticks - now
if used >= limit then
  if current == 0 then ticks = previous == 0 and 0 or math.max(0, ticks - sub_ticks) end
  local code = limit == 0 and -1 or sliding_wait(limit, sub_ticks, index, current, previous) * 4
  answer = pack('<dddd', now, used, ticks, code)
else
  answer = pack('<ddd', now, used + 1, ticks)
  local is_even = index % 2 == 0
  if current == 0 then
    local bytes = pack('<Bddd', 83, index, is_even and 1 or previous, is_even and previous or 1)
    call_redis('SETEX', keys[2], string.format('%.0f', math.ceil(ticks / 1000000) + SPARE_SECONDS), bytes)
  else
    call_redis('SETRANGE', keys[2], is_even and '9' or '17', pack('<d', current + 1))
  end
end
