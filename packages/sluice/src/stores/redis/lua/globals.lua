-- To look a global up takes longer than most of what is done with it; and text becomes a number by adding 0.
local keys, args = KEYS, ARGV
local call_redis, pack, unpack_bytes = redis.call, struct.pack, struct.unpack
