-- How many processes share this store. Each one registers regularly; one that has not for long is gone.
--
-- KEYS[1]  a sorted set of process ids by the tick they were last seen
-- ARGV[1]  the id of the one asking
-- ARGV[2]  how many ticks one is remembered
-- Reply    how many there are

redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - tonumber(ARGV[2])))
redis.call('EXPIRE', KEYS[1], '86400')
return struct.pack('<d', redis.call('ZCARD', KEYS[1]))
