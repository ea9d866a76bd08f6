-- ARGV[2…]    limit, windowTicks, below 0 where windows start with their first use

local limit, window_ticks = args[2] + 0, args[3] + 0
local used, end_at = 0, 0
if value then
  if #value ~= 17 then return pack('<d', NOT_PLAIN) end
  local letter
  letter, used, end_at = unpack_bytes('<Bdd', value)
  if letter ~= 70 then return pack('<d', NOT_PLAIN) end
end
local is_over = now >= end_at
if is_over then
  used = 0
  end_at = window_ticks < 0 and now - window_ticks or (math.floor(now / window_ticks) + 1) * window_ticks
end

local answer
local ticks = end_at - now
if used >= limit then
  answer = pack('<dddd', now, used, used == 0 and 0 or ticks, limit == 0 and -1 or ticks * 4)
else
  used = used + 1
  answer = pack('<ddd', now, used, ticks)
  if is_over then
    local seconds = string.format('%.0f', math.ceil(ticks / 1000000) + SPARE_SECONDS)
    call_redis('SETEX', keys[2], seconds, pack('<Bdd', 70, used, end_at))
  else
    call_redis('SETRANGE', keys[2], '1', pack('<d', used))
  end
end
