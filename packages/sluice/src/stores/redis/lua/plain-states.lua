-- Looks at all values, and puts `used` in their places.

local ceil, floor = math.ceil, math.floor
-- Of each limit: letter, keys, full, step, span, and the place before the first of its keys.
local plan, limits = {}, 0
-- Does something not fit, or lie in another window than that of now?
local one_by_one = false
local repeats = args[3] and { string.byte(args[3], 1, -1) }
-- By key: what must be written whole. Of a sliding window without a counter of now it is the counter before.
local whole = {}
-- By key: the weight of the counter before in a sliding window, unless it is 0.
local weights = {}
-- By key, if it lies in the future or is not that of now: since when a bucket has drained, the end of a fixed window, the
-- newest counter of a sliding window.
local elsewhere = {}
local missing = not clock and { keys[1] } or {}

local to = 1
for letter, count, full, step, span in string.gmatch(args[2], '(%a) (%d+) (%d+) (%d+) (%-?%d+)') do
  count, full, step, span = count + 0, full + 0, step + 0, span + 0
  limits = limits + 1
  plan[limits] = { letter, count, full, step, span, to }
  local from, ticks = to + 1, 0
  to = to + count
  if letter == 'B' then
    for i = from, to do
      local value = found[i]
      if not value then
        value = pack('<Bddddd', 66, step, span, 0, 0, 0)
        missing[#missing + 1] = keys[i]
      end
      if #value ~= 41 then return pack('<d', NOT_PLAIN) end
      local is_bucket, old_step, old_span, used, since, kept_until = unpack_bytes('<Bddddd', value)
      -- A key whose rate has changed is not plain.
      if old_step ~= step or old_span ~= span or is_bucket ~= 66 then return pack('<d', NOT_PLAIN) end
      if now > since then
        used = used - (now - since) * span
        if used < 0 then used = 0 end
      elseif since > now then
        elsewhere[i] = since -- a clock that was set back must not let the same time drain twice
      end
      used = used + step
      if repeats then used = used + repeats[i - 1] * step end
      if used > full then one_by_one = true end
      if used / span > kept_until - now then whole[i] = true end
      found[i] = used
    end
  elseif letter == 'F' then
    local window_end = span < 0 and now - span or (floor(now / span) + 1) * span
    ticks = window_end - now
    for i = from, to do
      local value = found[i]
      if not value then
        value = pack('<Bdd', 70, 0, 0)
        missing[#missing + 1] = keys[i]
      end
      if #value ~= 17 then return pack('<d', NOT_PLAIN) end
      local is_fixed, used, end_at = unpack_bytes('<Bdd', value)
      if is_fixed ~= 70 then return pack('<d', NOT_PLAIN) end
      if now >= end_at then
        used = 0
        whole[i] = true
      elseif end_at ~= window_end then
        elsewhere[i], one_by_one = end_at, true
      end
      used = used + 1
      if repeats then used = used + repeats[i - 1] end
      if used > full then one_by_one = true end
      found[i] = used
    end
  else
    local index = floor(now / span)
    local left = (index + 1) * span - now
    ticks = left + span
    for i = from, to do
      local value = found[i]
      if not value then
        value = pack('<Bddd', 83, 0, 0, 0)
        missing[#missing + 1] = keys[i]
      end
      if #value ~= 25 then return pack('<d', NOT_PLAIN) end
      local is_sliding, newest, used, previous = unpack_bytes('<Bddd', value)
      if is_sliding ~= 83 then return pack('<d', NOT_PLAIN) end
      if newest % 2 == 1 then used, previous = previous, used end
      local inside = left
      if newest > index then
        elsewhere[i], one_by_one, inside = newest, true, span -- a clock that was set back stays in the newest
      elseif newest < index then
        previous = newest == index - 1 and used or 0
        used = 0
      end
      if used == 0 then whole[i] = previous end
      if previous > 0 then
        weights[i] = sliding_weight(previous, inside, span)
        used = used + weights[i]
      end
      used = used + 1
      if repeats then used = used + repeats[i - 1] end
      if used > full then one_by_one = true end
      found[i] = used
    end
  end
  found[last + limits] = ticks
end
-- Redis reads a value of a foreign type as missing, too, and would write over it.
if missing[1] and call_redis('EXISTS', unpack(missing)) > 0 then return pack('<d', NOT_PLAIN) end
