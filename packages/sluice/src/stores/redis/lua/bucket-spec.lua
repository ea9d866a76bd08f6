-- The limit of only-buckets.lua: ARGV[3…] is limit, perRequest, perTick. Its values are told by letter and rate: a key
-- whose rate has changed is not plain.
local per_request, per_tick = args[4] + 0, args[5] + 0
local full = args[3] * per_request
local counts = args[6] and cjson.decode(args[6])
local start, length = pack('<Bdd', 66, per_request, per_tick), 41
