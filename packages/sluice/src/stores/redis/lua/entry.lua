-- How a call starts: its arguments, its values, and the time.
--
-- KEYS[1]    the latest time seen in this slot, so that time never runs backwards
-- KEYS[2…]   the states, the logs last: a log is not read as a whole
-- last key   only if ARGV[1] is below 0: where the reply to this call is kept. A client that lost its connection may send
--            the same call again, and gets the same reply
-- ARGV[1]    the tick at which the client stops waiting. After it the script does nothing. If it is negative, the reply is
--            kept until that tick
-- ARGV[2…]   what is asked: see decide.lua
-- Reply      doubles, little-endian, the first being now. Or two doubles, if nothing was done: -1 and now (too late), or
--            -4 and ticks (the server's clock was set back by that many ticks: ask again)
--
-- All that can fail does so before the first write, because an error does not undo writes.

local LATE, FOREIGN = -1, -3
local valid_until, last, record = args[1] + 0, #keys, nil
if valid_until < 0 then
  valid_until, record = -valid_until, keys[last]
  last = last - 1
end
local ending = string.byte(args[2], -1)
local call = ending == 125 and cjson.decode(args[2]) -- JSON ends with }
local logs_count = call and call.logs or 0
if ending == 76 then -- a text with logs ends with L
  for count in string.gmatch(args[2], 'L (%d+)') do logs_count = logs_count + count end
end
local values = last - logs_count

-- By index in KEYS: a value, or false.
local found
if values == last then
  found = call_redis('MGET', unpack(keys))
  if record and found[last + 1] then return found[last + 1] end
else
  found = call_redis('MGET', unpack(keys, 1, values))
  local reply = record and call_redis('GET', record)
  if reply then return reply end
end
local clock = found[1]
