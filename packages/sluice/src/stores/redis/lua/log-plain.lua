-- The short way of a log: by its header, and by the few times around its tail. What was added in this call is now's, and
-- does not stand in the log yet.

-- The time of that number. `last` is the number behind the last one that stands in the log.
local function log_time(k, number, ring, last)
  if number >= last then return now end
  local at = LOG_HEADER + math.fmod(number, ring) * 8
  return unpack_bytes('<d', call_redis('GETRANGE', keys[k + 1], at, at + 7))
end

-- How many of the oldest have left the window, given that one has and the newest has not; and the time of the next.
local function log_tail(k, first, count, ring, gone_up_to)
  local _, old_first, old_count = unpack_bytes('<Bdd', headers[k])
  local last = old_first + old_count
  local gone, next_time = 1, log_time(k, first + 1, ring, last)
  while next_time <= gone_up_to do
    -- Gallops: what was looked at last has left, too.
    gone = math.min(2 * gone, count - 1)
    next_time = log_time(k, first + gone, ring, last)
    if next_time > gone_up_to then
      local low, high = math.floor(gone / 2) + 1, gone
      while low < high do
        local middle = math.floor((low + high) / 2)
        if log_time(k, first + middle, ring, last) <= gone_up_to then low = middle + 1 else high = middle end
      end
      return low, log_time(k, first + low, ring, last)
    end
  end
  return gone, next_time
end

function plain.log(value, spec, now, cost, _, k)
  local limit, window = spec.limit, spec.windowTicks
  local letter, first, count, oldest, newest, ring, until_tick = 76, 0, 0, now, now, 4, 0
  if value then
    if #value ~= LOG_HEADER then return end
    letter, first, count, oldest, newest, ring, until_tick = unpack_bytes('<Bdddddd', value)
    if letter ~= 76 or now < newest or not is_log(first, count, ring) then return end
    if count > 0 and oldest <= now - window then
      -- What is all gone is made small again, which is more than this way can do.
      if newest <= now - window then return end
      local gone
      gone, oldest = log_tail(k, first, count, ring, now - window)
      first, count = first + gone, count - gone
    end
  end
  local reset_at = count > 0 and newest + window or now
  local over = count + cost - limit
  if over > 0 then
    if over > 1 or count == 0 then return end
    return oldest + window, count, reset_at
  end
  if count + cost > ring then return end
  local keep
  if now + window > until_tick then
    until_tick = log_until(now, window)
    keep = until_tick
  end
  local bytes = pack('<Bdddddd', 76, first, count + cost, count > 0 and oldest or now, now, ring, until_tick)
  return 0, count, reset_at, bytes, count + cost, now + window, keep
end
