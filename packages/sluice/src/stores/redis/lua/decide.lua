-- Decides a batch, one item after another. A decision covers one or several limits and takes all of its charges or
-- none. A change is one that no limit can refuse. A call either only counts (each charge is enforced, nothing is held,
-- booked or blocked) or carries a JSON text.
--
-- KEYS, ARGV  see entry.lua
-- ARGV[2]     in a call that only counts: five words for each limit, separated by spaces. The keys stand in the order of the
--             limits:
--               B, how many keys it has, limit * perRequest, perRequest, perTick
--               F, how many keys it has, limit, 1, windowTicks, below 0 if windows start with their first use
--               S, how many keys it has, limit, 1, subTicks
--               L, how many keys it has, limit, 1, windowTicks. Logs come last, and another L ends the text
-- ARGV[3]     beside it, as a JSON list, the sum that is charged to each key. Missing or empty if every sum is 1
-- ARGV[4]     beside it, for each decision: how many charges it has, then the place of the key in KEYS and the cost of each
--             charge. Missing if every decision charges 1 to one key of its own under each limit
-- ARGV[2]     in any other call, as JSON: { logs, specs, items }. How many of the states are logs, the numbers of each limit,
--             and a list. Each item is either a decision
--               [take, hold_ticks, book_ticks, strikes, k, s, cost, role, id, phase, k, s, cost, role, id, phase, …]
--             or a change, which starts with a word: see full/changes.lua
--             take, strikes: 1 or 0. hold_ticks > 0 reserves, book_ticks >= 0 books. k: the place of the key in KEYS. s: its
--             limit's in specs. role: -2 enforced, -1 shadow, else shadow in place of the charge of that index (from 0). id:
--             of the slot or reservation it would be. phase: of windows that start by their key
--             or { logs, specs, inspect }: see full/inspect.lua
-- Reply       if a call only counts and everything passed: now; for each key what is used in the end; for each limit the
--             ticks until it is reset, or 0 for a bucket, whose reset follows from what is used.
--             In any other case: now, then for each charge three numbers: used (in units), ticks from now until it is
--             reset, and ticks until it passes * 4 + 1 if allowed + 2 if blocked; below 0: -1 never, -2 never and blocked, -3
--             the value is foreign. A change has three numbers, too, the first being its answer. Then, for the few charges
--             that need it: its number (from 0), what (1 resets, 2 held, 3 too many holds), value

-- Nearly all calls only count. They are fast because the script makes only the tables and functions that it needs: the
-- server makes them anew in every call. A call of 64 buckets takes half the instructions of one with a table for each
-- state, and a call of one decision two fifths (callgrind on redis-server 7.0).
--
-- Time stands still in a call, so a state is one number: `used`, in units. A charge fits if `used` with it is not above
-- `full`, for every kind. First all values are read; in `found`, each is replaced by `used` plus all that is charged.
-- If everything fits, all decisions pass, and that is the answer. Otherwise the charges are taken back, and the
-- decisions are made one by one.

-- For each limit: letter, keys, full, step, span, and the index before the first of its keys.
local plan, limits = {}, 0
local only_counts, one_by_one = not call, false
local sums = args[3] and args[3] ~= '' and cjson.decode(args[3])
local missing = not clock and { keys[1] } or {}
-- By index of the key: the parts that must be written whole, because they lie in the future or differ from now. The
-- tick since which a bucket has drained, the end of a fixed window, the newest index of a sliding one. The count before
-- in a sliding window, and its weight. The header of a log.
-- A table is made when something is put into it: most calls need none of them.
local NONE = {}
local whole, elsewhere, before, weights, logs = NONE, NONE, NONE, NONE, nil
-- @include kernels/log:sizes

local to = 1
for letter, count, full, step, span in string.gmatch(call and '' or args[2], '(%a) (%d+) (%d+) (%d+) (%-?%d+)') do
  count, full, step, span = count + 0, full + 0, step + 0, span + 0
  limits = limits + 1
  plan[limits] = { letter, count, full, step, span, to }
  local from, ticks = to + 1, 0
  to = to + count
  if not only_counts then -- only the index of what follows is needed
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
-- Redis reads a value of a foreign type as missing, and would overwrite it.
if only_counts and missing[1] and call_redis('EXISTS', unpack(missing)) > 0 then only_counts = false end

local answer
-- By index of the key, whether it has changed; nil if all have.
local changed
if only_counts and not one_by_one then
  found[1] = now
  answer = pack('<' .. string.rep('d', last + limits), unpack(found, 1, last + limits))
else
  -- Numbers to bytes, all at once: one by one takes as long as deciding. Lua can unpack about 8,000 values.
  local function pack_all(numbers)
    local count, parts = #numbers, {}
    if count <= 4000 then return pack('<' .. string.rep('d', count), unpack(numbers)) end
    for from = 1, count, 4000 do
      local to = min(from + 3999, count)
      parts[#parts + 1] = pack('<' .. string.rep('d', to - from + 1), unpack(numbers, from, to))
    end
    return table.concat(parts)
  end

  local NEVER_PASSES = -1
  -- In a call that only counts: for each decision how many charges it has, and for each the index of its key and the
  -- cost.
  local charges
  if not call then
    charges = args[4] and cjson.decode(args[4]) or {}
    local at = 1
    for decision = 1, args[4] and 0 or plan[1][2] do
      charges[at], at = limits, at + 1
      for n = 1, limits do
        charges[at], charges[at + 1], at = plan[n][6] + decision, 1, at + 2
      end
    end
  end

  -- Made only where a kernel is needed: a function that uses so many locals costs as much as half a decision.
  local with_kernels
  if logs or not only_counts then
    with_kernels = function()
      -- @include kernels/kernels
      if only_counts then return kernel_of, spec_of end
      -- @include full/full
    end
  end

  if only_counts then
    -- @include one-by-one
  else
    answer = with_kernels()
    if call and call.inspect or type(answer) == 'table' then return answer end
  end
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
