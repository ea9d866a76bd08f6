-- What every call begins and ends with.
--
-- KEYS[1]    the latest time seen in this slot: time never runs backwards, whatever the server's clock does
-- KEYS[2…]   the states: first those that are read whole, then the logs
-- The last   the reply to this very call, if ARGV[2] says so: a client may send a call twice after losing its connection
-- ARGV[1]    the tick after which nobody waits for an answer any more, 0 for never; then nothing is done
-- ARGV[2]    how many seconds to keep the reply for a second asking; '' where nobody would ask in time
-- Reply      doubles, little-endian, the first being now; -1 and now, if it was too late
--
-- All that can go wrong does so before the first write, since what an error leaves behind is not taken back.

local call_redis = redis.call
local LATE, NOT_PLAIN, FOREIGN = -1, -2, -3
local records = ARGV[2] ~= ''
local last = records and #KEYS - 1 or #KEYS
-- How many keys are read whole.
local values = last - 1 - logs

local found
if logs == 0 then
  found = call_redis('MGET', unpack(KEYS))
  if records and found[#KEYS] then return found[#KEYS] end
else
  found = call_redis('MGET', unpack(KEYS, 1, values + 1))
  local reply = records and call_redis('GET', KEYS[#KEYS])
  if reply then return reply end
end
local latest = 0
if found[1] then
  if #found[1] ~= 8 then return redis.error_reply('FOREIGN value at ' .. KEYS[1]) end
  latest = unpack_bytes('<d', found[1])
  if latest > now then now = latest end
end
local valid_until = ARGV[1] + 0
if valid_until > 0 and now > valid_until then return pack('<dd', LATE, now) end

-- Redis reads a value of a foreign type as missing, and would write over it. What is foreign is nil from here on.
do
  local missing
  for i = 1, values + 1 do
    if not found[i] then
      if not missing then missing = {} end
      missing[#missing + 1] = KEYS[i]
    end
  end
  if missing and call_redis('EXISTS', unpack(missing)) > 0 then
    if not found[1] and call_redis('EXISTS', KEYS[1]) == 1 then return redis.error_reply('FOREIGN value at ' .. KEYS[1]) end
    for i = 2, values + 1 do
      if not found[i] and call_redis('EXISTS', KEYS[i]) == 1 then found[i] = nil end
    end
  end
end

-- Numbers to bytes, all at once: one by one takes as long as deciding. Lua can hand on about 8,000 values.
local function pack_all(numbers)
  local count = #numbers
  if count <= 4000 then return pack('<' .. string.rep('d', count), unpack(numbers)) end
  local parts = {}
  for from = 1, count, 4000 do
    local to = math.min(from + 3999, count)
    parts[#parts + 1] = pack('<' .. string.rep('d', to - from + 1), unpack(numbers, from, to))
  end
  return table.concat(parts)
end

-- All states are written by now.
local function finish(reply)
  if now - latest >= CLOCK_TICKS then call_redis('SETEX', KEYS[1], '86400', pack('<d', now)) end
  if records then call_redis('SETEX', KEYS[#KEYS], ARGV[2], reply) end
  return reply
end
