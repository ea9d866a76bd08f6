-- The numbers of the limit, for plain.lua: from ARGV[4] on.
local logs = 0
local spec = { kind = 'sliding', limit = ARGV[4] + 0, subTicks = ARGV[5] + 0, buckets = 1 }
