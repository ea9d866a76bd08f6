-- The limit of only-fixed.lua: ARGV[3…] is limit, windowTicks, align.
local limit, window_ticks, align = args[3] + 0, args[4] + 0, args[5]
local counts = args[6] and cjson.decode(args[6])
local start, length = 'F', 17
