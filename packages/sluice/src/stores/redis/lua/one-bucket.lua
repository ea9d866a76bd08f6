-- ARGV[2…]    limit * perRequest, perRequest, and perTick if it is not 1

local full, per_request, per_tick = args[2] + 0, args[3] + 0, (args[4] or 1) + 0
local used, since, kept_until = 0, now, 0
if value then
  if #value ~= 41 then return pack('<d', NOT_PLAIN) end
  local letter, old_request, old_tick
  letter, old_request, old_tick, used, since, kept_until = unpack_bytes('<Bddddd', value)
  -- A key whose rate has changed is not plain.
  if old_request ~= per_request or old_tick ~= per_tick or letter ~= 66 then return pack('<d', NOT_PLAIN) end
  -- A clock that was set back must not let the same time drain twice.
  if now > since then
    used = used - (now - since) * per_tick
    if used < 0 then used = 0 end
    since = now
  end
end

local answer
local after = used + per_request
if after > full then
  local code = full == 0 and -1 or math.ceil((after - full) / per_tick) * 4
  answer = pack('<dddd', now, used, math.ceil(used / per_tick), code)
else
  answer = pack('<ddd', now, after, 0)
  local ticks = after / per_tick
  if ticks <= kept_until - now then
    call_redis('SETRANGE', keys[2], '17', pack('<dd', after, since))
  else
    -- Kept twice as long as it must be, so that most changes need not say again how long.
    local keep = math.ceil(2 * ticks / 1000000)
    local bytes = pack('<Bddddd', 66, per_request, per_tick, after, since, now + keep * 1000000)
    call_redis('SETEX', keys[2], string.format('%.0f', keep + SPARE_SECONDS), bytes)
  end
end
