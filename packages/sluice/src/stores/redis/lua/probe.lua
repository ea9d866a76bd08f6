-- A health check: reads the clock and writes something, as any decision does.
--
-- KEYS[1]  the latest time seen, see entry.lua. If it is missing, the script writes the time of now
-- Reply    now

local clock = redis.call('GET', KEYS[1])
if clock and #clock == 16 then
  local _, ahead = struct.unpack('<dd', clock)
  redis.call('SETEX', KEYS[1], AHEAD_SECONDS, clock)
  return struct.pack('<d', now + ahead)
end
if clock and #clock ~= 8 then return redis.error_reply('FOREIGN value at ' .. KEYS[1]) end
redis.call('SETEX', KEYS[1], '86400', clock or struct.pack('<d', now))
return struct.pack('<d', now)
