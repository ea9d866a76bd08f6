-- The numbers of the limit, for plain.lua: from ARGV[5] on.
local spec = { kind = 'sliding', limit = tonumber(ARGV[5]), subTicks = tonumber(ARGV[6]), buckets = 1 }
