-- Decides: all at once where all pass and are told alike, else one by one, each taking all it asks for or nothing.

-- By key, whether it has changed; nil where all have.
local answer, changed
if not one_by_one then
  found[1] = now
  answer = pack('<' .. string.rep('d', last + limits), unpack(found, 1, last + limits))
else
  changed = {}
  for _, limit in ipairs(plan) do
    for k = limit[6] + 1, limit[6] + limit[2] do
      found[k] = found[k] - (repeats and repeats[k - 1] + 1 or 1) * limit[4]
    end
  end
  local places, decisions = nil, plan[1][2]
  if repeats then
    places = { string.byte(args[4], 1, -1) }
    decisions = #places / limits
  end
  local reply, charges = { now }, 0
  for decision = 1, decisions do
    local passes = true
    for n = 1, limits do
      local limit = plan[n]
      local k = limit[6] + (places and places[charges + n] + 1 or decision)
      if found[k] + limit[4] > limit[3] then passes = false end
    end
    for n = 1, limits do
      local letter, _, full, step, span, before = unpack(plan[n])
      local k = before + (places and places[charges + 1] + 1 or decision)
      local used, reset, code = found[k], 0, 1
      local excess = used + step - full
      if passes then
        used = used + step
        found[k], changed[k] = used, true
      end
      if letter == 'B' then
        reset = ceil(used / span)
        if excess > 0 then code = ceil(excess / span) * 4 end
      elseif letter == 'F' then
        local left = elsewhere[k] and elsewhere[k] - now or found[last + n]
        if used > 0 then reset = left end
        if excess > 0 then code = left * 4 end
      else
        local index, current, previous = elsewhere[k] or floor(now / span), used - (weights[k] or 0), whole[k]
        if current > 0 then reset = (index + 2) * span - now
        elseif used > 0 then reset = math.max(0, (index + 1) * span - now) end
        if excess > 0 then
          if not previous then
            local newest, even, odd = unpack_bytes('<ddd', call_redis('GET', keys[k]), 2)
            previous = newest % 2 == 0 and odd or even
          end
          code = sliding_wait(full, span, index, current, previous) * 4
        end
      end
      if excess > 0 and full == 0 then code = -1 end
      local at = 3 * charges + 2
      reply[at], reply[at + 1], reply[at + 2] = used, reset, code
      charges = charges + 1
    end
  end
  -- Lua can hand on about 8,000 values: no call is that large.
  answer = pack('<' .. string.rep('d', #reply), unpack(reply))
end
