-- The numbers of the limit, for plain.lua: from ARGV[5] on.
local spec = { kind = 'fixed', limit = tonumber(ARGV[5]), windowTicks = tonumber(ARGV[6]), align = ARGV[7] }
