-- FOR TESTS ONLY: now is what the test says, last of all, and keys outlive any pause of a test whose clock stands still.
local now = tonumber(table.remove(ARGV))
local SPARE_SECONDS = 3600
local CLOCK_TICKS = 1
