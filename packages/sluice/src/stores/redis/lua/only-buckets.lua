-- The buckets of a call: bucket-plain.lua in a loop. `used` is the level.

local kept_used, kept_since, kept_bytes, kept_seconds
for i = 2, last do
  local since, kept_until
  used, since, kept_until = unpack_bytes('<ddd', found[i], 18)
  -- A clock that was set back must not let the same time drain twice.
  if now > since then
    used = used - (now - since) * per_tick
    if used < 0 then used = 0 end
    since = now
  end
  local left, is_changed = counts and counts[i - 1] or 1, false
  repeat
    local after = used + per_request
    if after <= full then
      used = after
      code = 1
      is_changed = true
    else
      code = full == 0 and -1 or math.ceil((after - full) / per_tick) * 4
    end
    ticks = used / per_tick
    local part = ticks % 1 -- rounds up, in half the time of math.ceil
    if part > 0 then ticks = ticks - part + 1 end
    if reply then
      reply[at + 1] = used
      reply[at + 2] = ticks
      at = at + 3
      reply[at] = code
    end
    left = left - 1
  until left == 0
  if is_changed then
    if now + ticks <= kept_until then
      call_redis('SETRANGE', keys[i], '17', pack('<dd', used, since))
    else
      -- Kept twice as long as it must be, so that most changes need not say again how long. Buckets that were empty
      -- become the same, and those are most.
      if used ~= kept_used or since ~= kept_since then
        local seconds = math.ceil(2 * ticks / 1000000)
        kept_used, kept_since = used, since
        kept_bytes = start .. pack('<ddd', used, since, now + seconds * 1000000)
        kept_seconds = string.format('%.0f', seconds + SPARE_SECONDS)
      end
      call_redis('SETEX', keys[i], kept_seconds, kept_bytes)
    end
  end
end
