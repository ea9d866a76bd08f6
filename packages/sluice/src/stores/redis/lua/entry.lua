-- What every call is told, and may answer. It goes on with reading (read.lua, plain.lua or one.lua), clock.lua, what is to
-- be done, and finish.lua.
--
-- KEYS[1]    the latest time seen in this slot: time never runs backwards, whatever the server's clock does
-- KEYS[2…]   the states: first those that are read whole, then the logs
-- The last   the reply to this very call, if ARGV[1] says so: a client may send a call twice after losing its connection
-- ARGV[1]    the tick after which nobody waits for an answer any more: then nothing is done. Below 0 where the client may
--            send the call again until then, so that its reply must be kept
-- Reply      doubles, little-endian, the first being now; -1 and now, if it was too late
--
-- All that can go wrong does so before the first write, since what an error leaves behind is not taken back.

local LATE, NOT_PLAIN, FOREIGN = -1, -2, -3
local valid_until, last, record = args[1] + 0, #keys, nil
if valid_until < 0 then
  valid_until, record = -valid_until, keys[last]
  -- The last of the states.
  last = last - 1
end
