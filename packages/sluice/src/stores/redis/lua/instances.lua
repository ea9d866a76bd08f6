-- Counts the processes that share this store. Each process registers regularly. The script forgets a process that has
-- stopped doing so.
--
-- KEYS[1]  a sorted set of process ids by the tick they were last seen
-- ARGV[1]  the id of the process that asks
-- ARGV[2]  after how many ticks without a registration a process is forgotten
-- Reply    how many there are

redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - tonumber(ARGV[2])))
redis.call('EXPIRE', KEYS[1], '86400')
return struct.pack('<d', redis.call('ZCARD', KEYS[1]))
