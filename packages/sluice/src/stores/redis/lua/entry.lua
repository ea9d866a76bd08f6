-- What every call is told, and may answer. It goes on with reading (read.lua or plain.lua), clock.lua, what is to be
-- done, and finish.lua.
--
-- KEYS[1]    the latest time seen in this slot: time never runs backwards, whatever the server's clock does
-- KEYS[2…]   the states: first those that are read whole, then the logs
-- The last   the reply to this very call, if ARGV[2] says so: a client may send a call twice after losing its connection
-- ARGV[1]    the tick after which nobody waits for an answer any more, 0 for never; then nothing is done
-- ARGV[2]    how many seconds to keep the reply for a second asking; '' where nobody would ask in time
-- Reply      doubles, little-endian, the first being now; -1 and now, if it was too late
--
-- All that can go wrong does so before the first write, since what an error leaves behind is not taken back.

local LATE, NOT_PLAIN, FOREIGN = -1, -2, -3
local records, last = args[2] ~= '', #keys
local record = keys[last]
-- The last of the states.
if records then last = last - 1 end
