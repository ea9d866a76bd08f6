-- Decisions that only count, which are nearly all: see decide.lua. What makes this quick is that no table or function is made
-- that is not needed, since the server makes them anew in every call: a call of 64 buckets takes half the instructions of one
-- with a state as a table for each, and a call of one decision two fifths (callgrind on redis-server 7.0).
--
-- Time stands still in a call, so a state comes down to one number: `used`, in units. A charge fits if `used` with it is not
-- above `full`, whatever the kind. First all values are read, and `used`, with all that is charged, takes the place of each in
-- `found`. If all fits, all decisions pass, and that is the answer. Else it is taken back, and they are made one by one.

-- Of each limit: letter, keys, full, step, span, and the place before the first of its keys.
local plan, limits = {}, 0
local only_counts, one_by_one = not call, false
local sums = args[3] and args[3] ~= '' and cjson.decode(args[3])
local missing = not clock and { keys[1] } or {}
-- By place of the key: what must be written whole. What lies in the future, or is not that of now: since when a bucket has
-- drained, the end of a fixed window, the newest index of a sliding one. The count before in a sliding window, and its weight. The header of a log.
local whole, elsewhere, before, weights, logs = {}, {}, {}, {}, nil

local to = 1
for letter, count, full, step, span in string.gmatch(call and '' or args[2], '(%a) (%d+) (%d+) (%d+) (%-?%d+)') do
  count, full, step, span = count + 0, full + 0, step + 0, span + 0
  limits = limits + 1
  plan[limits] = { letter, count, full, step, span, to }
  local from, ticks = to + 1, 0
  to = to + count
  if not only_counts then -- of what follows only its place is needed
  elseif letter == 'B' then
    local per_tick = span
    for k = from, to do
      local used
      -- @include kernels/bucket:count
      if used > full then one_by_one = true end
      found[k] = used
    end
  elseif letter == 'F' then
    local new_end = span < 0 and now - span or (floor(now / span) + 1) * span
    ticks = new_end - now
    for k = from, to do
      local used = 0
      -- @include kernels/fixed:count
      if used > full then one_by_one = true end
      found[k] = used
    end
  elseif letter == 'L' then
    -- @include kernels/log:shared
    -- @include kernels/log:tail
    ticks, logs = span, logs or {}
    for k = from, to do
      local used
      -- @include kernels/log:count
      if used > full then one_by_one = true end
      found[k] = used
    end
  else
    local now_index = floor(now / span)
    local left = (now_index + 1) * span - now
    ticks = left + span
    for k = from, to do
      local used = 0
      -- @include kernels/sliding:count
      if used > full then one_by_one = true end
      found[k] = used
    end
  end
  found[last + limits] = ticks
end
-- Redis reads a value of a foreign type as missing, too, and would write over it.
if only_counts and missing[1] and call_redis('EXISTS', unpack(missing)) > 0 then only_counts = false end

local answer
-- By place of the key, whether it has changed; nil where all have.
local changed
if only_counts and not one_by_one then
  found[1] = now
  answer = pack('<' .. string.rep('d', last + limits), unpack(found, 1, last + limits))
else
  -- In a function of its own, since a function made in it costs a third of one made out here.
  local function answer_slowly()
    -- @include kernels/kernels
    -- @include charges
    if only_counts then
      -- @include one-by-one
    else
      -- @include full/full
    end
  end
  answer = answer_slowly()
  if call and call.inspect or type(answer) == 'table' then return answer end
end

if only_counts then
  for n = 1, limits do
    local letter, count, full, step, span, before_first = unpack(plan[n])
    local from, to, ticks = before_first + 1, before_first + count, found[last + n]
    if letter == 'B' then
      local same_used, bytes, seconds
      for k = from, to do
        if not changed or changed[k] then
          local used = found[k]
          -- @include kernels/bucket:write
        end
      end
    elseif letter == 'L' then
      -- @include kernels/log:shared
      local seconds = string.format('%d', ceil((log_until(now, span) - now) / 1000000) + SPARE_SECONDS)
      for k = from, to do
        if not changed or changed[k] then
          local used = found[k]
          -- @include kernels/log:write
        end
      end
    else
      local seconds, now_index = string.format('%d', ceil(ticks / 1000000) + SPARE_SECONDS), floor(now / span)
      for k = from, to do
        if not changed or changed[k] then
          local used = found[k]
          if letter == 'F' then
            -- @include kernels/fixed:write
          else
            -- @include kernels/sliding:write
          end
        end
      end
    end
  end
end
