-- Writes what has changed: what must be kept longer as a whole, and all else in place.

for n = 1, limits do
  local letter, count, _, step, span, before = unpack(plan[n])
  local ticks, seconds = found[last + n], nil
  if letter == 'B' then
    local kept_used, bytes
    for i = before + 1, before + count do
      if not changed or changed[i] then
        local used, since = found[i], elsewhere[i] or now
        if not whole[i] then
          call_redis('SETRANGE', keys[i], '17', pack('<dd', used, since))
        else
          -- Kept twice as long as it must be, so that most changes need not say again how long. Buckets that were empty
          -- become the same, and those are most.
          if used ~= kept_used or since ~= now then
            kept_used = since == now and used
            local keep = ceil(2 * used / span / 1000000)
            bytes = pack('<Bddddd', 66, step, span, used, since, now + keep * 1000000)
            seconds = string.format('%.0f', keep + SPARE_SECONDS)
          end
          call_redis('SETEX', keys[i], seconds, bytes)
        end
      end
    end
  else
    local now_index = floor(now / span)
    for i = before + 1, before + count do
      if not changed or changed[i] then
        local used, previous = found[i], whole[i]
        if previous and not seconds then seconds = string.format('%.0f', ceil(ticks / 1000000) + SPARE_SECONDS) end
        if letter == 'F' then
          if not previous then call_redis('SETRANGE', keys[i], '1', pack('<d', used))
          else call_redis('SETEX', keys[i], seconds, pack('<Bdd', 70, used, now + ticks)) end
        else
          local index, current = elsewhere[i] or now_index, used - (weights[i] or 0)
          local is_even = index % 2 == 0
          -- What lies in the future is kept long enough.
          if not previous or elsewhere[i] then
            call_redis('SETRANGE', keys[i], is_even and '9' or '17', pack('<d', current))
          else
            local bytes = pack('<Bddd', 83, index, is_even and current or previous, is_even and previous or current)
            call_redis('SETEX', keys[i], seconds, bytes)
          end
        end
      end
    end
  end
end
