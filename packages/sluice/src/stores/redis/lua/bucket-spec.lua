-- The numbers of the limit, for plain.lua: from ARGV[5] on.
local spec = { kind = 'bucket', limit = tonumber(ARGV[5]), perRequest = tonumber(ARGV[6]), perTick = tonumber(ARGV[7]) }
