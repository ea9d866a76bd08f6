-- Now, in ticks (whole microseconds), is the server's: no client is ever asked.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- How long a key is kept beyond what it is needed for, in seconds.
local SPARE_SECONDS = 1
-- How much time passes before the latest time is written down again. A clock set back by less is held by each key's own
-- state, which never goes back either.
local CLOCK_TICKS = 50000
-- How long it is remembered that time here is ahead of the server's: longer than any window.
local AHEAD_SECONDS = '34560000'
