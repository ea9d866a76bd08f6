-- FOR TESTS ONLY: the last argument is the time. Keys outlive any pause of a test whose clock stands still.
local now = tonumber(table.remove(ARGV))
local SPARE_SECONDS = 3600
local CLOCK_TICKS = 1
-- How long a key remembers that time here is ahead of the server's: longer than any window.
local AHEAD_SECONDS = '34560000'
