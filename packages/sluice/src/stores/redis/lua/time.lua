-- Now, in ticks (whole microseconds), by the server's clock. No client's clock is used.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- How many seconds a key is kept longer than needed.
local SPARE_SECONDS = 1
-- How much time passes before the latest time is written again. If the clock is set back by less, the keys' own states,
-- which never go back either, prevent harm.
local CLOCK_TICKS = 50000
-- How long a key remembers that time here is ahead of the server's: longer than any window.
local AHEAD_SECONDS = '34560000'
