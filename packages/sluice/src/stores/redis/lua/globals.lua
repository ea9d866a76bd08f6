-- Locals for functions used often: looking a global up takes longer than most of them.
local keys, args = KEYS, ARGV
local call_redis, pack, unpack_bytes = redis.call, struct.pack, struct.unpack
local ceil, floor, max, min, fmod = math.ceil, math.floor, math.max, math.min, math.fmod
local NEVER = math.huge
