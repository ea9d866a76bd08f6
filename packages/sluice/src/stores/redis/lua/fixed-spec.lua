-- The numbers of the limit, for plain.lua: from ARGV[4] on.
local logs = 0
local spec = { kind = 'fixed', limit = ARGV[4] + 0, windowTicks = ARGV[5] + 0, align = ARGV[6] }
