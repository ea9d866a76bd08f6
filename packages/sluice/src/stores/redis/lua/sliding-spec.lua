-- The limit of only-sliding.lua: ARGV[3…] is limit, subTicks.
local limit, sub_ticks = args[3] + 0, args[4] + 0
local counts = args[5] and cjson.decode(args[5])
local start, length = 'S', 25
