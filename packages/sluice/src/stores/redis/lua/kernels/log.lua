-- Twin of algorithms/sliding-log.ts: the time of every request still in the window, in a ring that grows with use.
-- Only the header and the few times a decision needs are read, and only what is new is written. So a call of 64 takes
-- the server 40 % fewer instructions than with tables as states.
-- Bytes: first, count, oldest, newest, ring, and the tick until which the key is kept (doubles), then `ring` times.
-- Time number n is at n mod ring, and `first` is the number of the oldest that counts. A key with blocks or
-- reservations is read as a whole.

-- @part sizes
-- The bytes of the header, including the letter.
local LOG_HEADER, SMALLEST_RING = 49, 4

-- @part shared
-- A key is kept a quarter longer than it must be, so that most changes need not set its expiry again.
local function log_until(now, window)
  return now + window + ceil(window / 4)
end

-- A value of any length may be foreign: a log starts with whole numbers that fit together.
local function is_log(first, count, ring)
  local are_whole = first % 1 == 0 and count % 1 == 0 and ring % 1 == 0
  return are_whole and first >= 0 and count >= 0 and count <= ring and ring <= 2 ^ 17
end

-- @part tail
-- The time of that number, if the log still has it.
local function time_of(k, number, ring)
  local at = LOG_HEADER + fmod(number, ring) * 8
  return (unpack_bytes('<d', call_redis('GETRANGE', keys[k], at, at + 7)))
end

-- How many of the oldest have left the window, and the time of the next. The caller knows that one has and the newest
-- has not.
local function tail_of(k, first, count, ring, gone_up_to)
  local gone, next_time = 1, time_of(k, first + 1, ring)
  while next_time <= gone_up_to do
    -- Gallops: every time looked at before this one has left, too.
    gone = min(2 * gone, count - 1)
    next_time = time_of(k, first + gone, ring)
    if next_time > gone_up_to then
      local low, high = floor(gone / 2) + 1, gone
      while low < high do
        local middle = floor((low + high) / 2)
        if time_of(k, first + middle, ring) <= gone_up_to then low = middle + 1 else high = middle end
      end
      return low, time_of(k, first + low, ring)
    end
  end
  return gone, next_time
end

-- @part count
local header = redis.pcall('GETRANGE', keys[k], 0, LOG_HEADER - 1)
if type(header) == 'table' then only_counts = false break end
local first, count, oldest, newest, ring, until_tick = 0, 0, now, now, SMALLEST_RING, 0
if header ~= '' then
  if #header ~= LOG_HEADER then only_counts = false break end
  local letter
  letter, first, count, oldest, newest, ring, until_tick = unpack_bytes('<Bdddddd', header)
  if letter ~= 76 or now < newest or not is_log(first, count, ring) then only_counts = false break end
  if count == 0 or newest <= now - span then
    if whole == NONE then whole = {} end
    first, count, ring, whole[k] = 0, 0, SMALLEST_RING, true -- frees the memory of a burst long gone
  elseif oldest <= now - span then
    local gone
    gone, oldest = tail_of(k, first, count, ring, now - span)
    first, count = first + gone, count - gone
  end
else
  if whole == NONE then whole = {} end
  missing[#missing + 1], whole[k] = keys[k], true
end
logs[k] = { first, count, count > 0 and oldest or now, newest, ring, until_tick }
used = count + (sums and sums[k - 1] or 1)

-- @part state
local first, count, oldest, newest, ring = unpack(logs[k])
state = { first = first, count = used, oldest = oldest, newest = newest, ring = ring, times = {}, key = keys[k] }
state.slots = LOG_HEADER
for number = first + count, first + used - 1 do state.times[number] = now end
if used > count then state.newest = now end

-- @part write
local first, count, oldest, _, ring, until_tick = unpack(logs[k])
local place, added, time = fmod(first + count, ring), used - count, pack('<d', now)
local is_short = whole[k] or now + span > until_tick
if is_short then until_tick = log_until(now, span) end
if not whole[k] and used <= ring then
  local run = min(added, ring - place)
  call_redis('SETRANGE', keys[k], LOG_HEADER + place * 8, string.rep(time, run))
  if run < added then call_redis('SETRANGE', keys[k], LOG_HEADER, string.rep(time, added - run)) end
  call_redis('SETRANGE', keys[k], '0', pack('<Bdddddd', 76, first, used, oldest, now, ring, until_tick))
  if is_short then call_redis('EXPIRE', keys[k], seconds) end
else
  -- The ring grows: the times that count are numbered from 0 again.
  local times = ''
  if count > 0 then
    local slots = call_redis('GETRANGE', keys[k], LOG_HEADER, LOG_HEADER + ring * 8 - 1)
    local start = fmod(first, ring) * 8
    times = string.sub(string.sub(slots, start + 1) .. string.sub(slots, 1, start), 1, count * 8)
    ring = max(used, min(full, ring * 2))
  end
  local bytes = pack('<Bdddddd', 76, 0, used, oldest, now, max(used, ring), log_until(now, span))
  call_redis('SETEX', keys[k], seconds, bytes .. times .. string.rep(time, added))
end

-- @part kernel
-- @include kernels/log:shared

function makers.log()
  local kernel = { letter = 'L' }
  local HEADER = LOG_HEADER - 1

  function kernel.fresh()
    return { first = 0, count = 0, oldest = 0, newest = 0, ring = 0, until_tick = 0, times = {} }
  end

  -- `value` may be only letter and header; `times` holds those that were read or added, by their number.
  function kernel.read(value, from, key)
    if #value - from + 1 < HEADER then return nil end
    local first, count, oldest, newest, ring, until_tick = unpack_bytes('<dddddd', value, from)
    if not is_log(first, count, ring) then return nil end
    return {
      first = first, count = count, oldest = oldest, newest = newest, ring = ring, until_tick = until_tick,
      times = {}, key = key, slots = from - 1 + HEADER, pushed = first + count,
    }
  end

  -- The n-th oldest, from 0.
  local function time_at(state, n)
    if n == 0 then return state.oldest end
    local number = state.first + n
    local time = state.times[number]
    if time == nil then
      local at = state.slots + fmod(number, state.ring) * 8
      time = unpack_bytes('<d', call_redis('GETRANGE', state.key, at, at + 7))
      state.times[number] = time
    end
    return time
  end

  -- Reads all times that count, after which the state no longer needs its key.
  local function load(state)
    if state.key == nil or state.loaded then return end
    local bytes = call_redis('GETRANGE', state.key, state.slots, state.slots + state.ring * 8 - 1)
    for number = state.first, state.first + state.count - 1 do
      if state.times[number] == nil then
        state.times[number] = unpack_bytes('<d', bytes, fmod(number, state.ring) * 8 + 1)
      end
    end
    state.loaded = true
  end

  local function drop_oldest(state, n)
    if n == 0 then return end
    if n < state.count then state.oldest = time_at(state, n) end
    state.first = state.first + n
    state.count = state.count - n
  end

  -- Gallops past times that have left the window: mostly it looks at the oldest alone.
  function kernel.locate(state, spec, now)
    local gone_up_to = now - spec.windowTicks
    if state.count == 0 or state.oldest > gone_up_to then return end
    if state.newest <= gone_up_to then
      state.first = state.first + state.count
      state.count = 0
      state.whole = state.ring > SMALLEST_RING -- frees the memory of a burst long gone
      return
    end
    local gone = 1
    while gone < state.count and time_at(state, min(2 * gone, state.count) - 1) <= gone_up_to do
      gone = min(2 * gone, state.count)
    end
    local high = min(2 * gone, state.count)
    while gone < high do
      local middle = floor((gone + high + 1) / 2)
      if time_at(state, middle - 1) <= gone_up_to then gone = middle else high = middle - 1 end
    end
    drop_oldest(state, gone)
  end

  function kernel.judge(state, spec, _, cost)
    local over = state.count + cost - spec.limit
    if over <= 0 then return 0 end
    if cost > spec.limit then return NEVER end
    return time_at(state, over - 1) + spec.windowTicks
  end

  function kernel.take(state, spec, now, cost)
    if cost == 0 then return end
    if state.count + cost > state.ring then
      load(state)
      state.ring = max(state.count + cost, min(spec.limit, max(SMALLEST_RING, state.ring * 2)))
      state.whole = true
    end
    if state.count == 0 then state.oldest = now end
    -- The times are in order, even if the clock was set back a little.
    if state.count == 0 or now > state.newest then state.newest = now end
    for number = state.first + state.count, state.first + state.count + cost - 1 do state.times[number] = state.newest end
    state.count = state.count + cost
  end

  function kernel.describe(state, spec, now)
    return state.count, state.count == 0 and now or state.newest + spec.windowTicks
  end

  function kernel.refund(state, spec, now, cost, at)
    if now - at < spec.windowTicks then drop_oldest(state, min(cost, state.count)) end
  end

  function kernel.credit(state, _, _, cost)
    drop_oldest(state, min(cost, state.count))
  end

  function kernel.span(spec)
    return spec.windowTicks
  end

  function kernel.counted(state)
    return state.count
  end

  function kernel.numbers(state)
    load(state)
    local times = {}
    for n = 1, state.count do times[n] = n == 1 and state.oldest or state.times[state.first + n - 1] end
    return times
  end

  local function header(state)
    return pack('<dddddd', state.first, state.count, state.oldest, state.newest, state.ring, state.until_tick)
  end

  -- The whole value. The times that count are numbered from 0 again, so that a large ring can shrink.
  function kernel.write(state, until_tick)
    load(state)
    state.until_tick = until_tick
    local bytes = {}
    for n = 1, state.count do bytes[n] = pack('<d', n == 1 and state.oldest or state.times[state.first + n - 1]) end
    state.first = 0
    state.ring = max(state.count, min(state.ring, 2 * max(SMALLEST_RING, state.count)))
    return header(state) .. table.concat(bytes)
  end

  -- Writes what is new in place, if that is enough.
  function kernel.write_in_place(state, spec)
    if state.key == nil or state.whole or state.count == 0 then return false end
    local number, last = max(state.pushed, state.first), state.first + state.count - 1
    while number <= last do
      local place = fmod(number, state.ring)
      local run = min(last - number + 1, state.ring - place)
      local bytes = {}
      for i = 1, run do bytes[i] = pack('<d', state.times[number + i - 1]) end
      call_redis('SETRANGE', state.key, state.slots + place * 8, run == 1 and bytes[1] or table.concat(bytes))
      number = number + run
    end
    local is_short = now + spec.windowTicks > state.until_tick
    if is_short then state.until_tick = log_until(now, spec.windowTicks) end
    call_redis('SETRANGE', state.key, state.slots - HEADER, header(state))
    if is_short then call_redis('EXPIRE', state.key, ttl_text(state.until_tick - now)) end
    return true
  end

  return kernel
end
