-- What every call begins and ends with.
--
-- KEYS[1]    the latest time seen in this slot: time never runs backwards, whatever the server's clock does
-- KEYS[2]    the reply to this very call: a client that lost its connection may send a call twice
-- KEYS[3…]   the states: first `values` keys that are read whole, then the logs
-- ARGV[1]    the tick after which nobody waits for an answer any more, 0 for never; then nothing is done
-- ARGV[2]    how many seconds to keep the reply for a second asking
-- ARGV[3]    `values`
-- Reply      doubles, little-endian, the first being now; -1 and now, if it was too late
--
-- All that can go wrong does so before the first write, since what an error leaves behind is not taken back.

local pack, call_redis = struct.pack, redis.call
local LATE, NOT_PLAIN, FOREIGN = -1, -2, -3
local values = tonumber(ARGV[3])
local now = server_time()

local found = call_redis('MGET', unpack(KEYS, 1, values + 2))
if found[2] then return found[2] end
local latest = 0
if found[1] then
  if #found[1] ~= 8 then return redis.error_reply('FOREIGN value at ' .. KEYS[1]) end
  latest = struct.unpack('<d', found[1])
  if latest > now then now = latest end
end
local valid_until = tonumber(ARGV[1])
if valid_until > 0 and now > valid_until then return pack('<dd', LATE, now) end

-- Redis reads a value of a foreign type as missing, and would write over it. What is foreign is nil from here on.
do
  local missing, count = {}, 0
  for i = 1, values + 2 do
    if not found[i] and i ~= 2 then
      count = count + 1
      missing[count] = KEYS[i]
    end
  end
  if count > 0 and call_redis('EXISTS', unpack(missing)) > 0 then
    if not found[1] and call_redis('EXISTS', KEYS[1]) == 1 then return redis.error_reply('FOREIGN value at ' .. KEYS[1]) end
    for i = 3, values + 2 do
      if not found[i] and call_redis('EXISTS', KEYS[i]) == 1 then found[i] = nil end
    end
  end
end

-- All states are written by now.
local function finish(reply)
  if now - latest >= CLOCK_TICKS then call_redis('SETEX', KEYS[1], '86400', pack('<d', now)) end
  call_redis('SETEX', KEYS[2], ARGV[2], reply)
  return reply
end
