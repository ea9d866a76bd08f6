-- A call of one plain decision under one limit: see plain.lua for what that is. A process that is not busy makes no others,
-- and somebody waits for each, so there is no loop here and no table.
--
-- KEYS, ARGV  see entry.lua
-- ARGV[2…]    the numbers of the limit: see one-bucket.lua and its like
-- Reply       as plain.lua

local reply = record and call_redis('GET', record)
if reply then return reply end
-- Two by one faster than both at once; and a value of a foreign type is an error here, a table without a length.
local try_redis = redis.pcall
local clock, value = try_redis('GET', keys[1]), try_redis('GET', keys[2])
