-- The numbers of the limit, for plain.lua: from ARGV[4] on.
local logs = 0
local spec = { kind = 'bucket', limit = ARGV[4] + 0, perRequest = ARGV[5] + 0, perTick = ARGV[6] + 0 }
