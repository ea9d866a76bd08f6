-- A call of nothing but plain decisions under one limit: cost 1, enforced, nothing held, booked or blocked. That is nearly
-- all there is, so its scripts hold nothing that they do not run: a server makes every function and table of a script anew
-- in every call. So the arithmetic of each kind stands here once more, in one loop over the keys and without a function.
--
-- KEYS, ARGV  see entry.lua; then
-- ARGV[3…]    the numbers of the limit: see bucket-spec.lua and its like
-- behind      how often each key is charged, as JSON, unless each is once
-- Reply       as decide.lua, key by key; or -2 alone: something is not plain here, and nothing was done
--
-- All values are looked at before the first is changed: each has the right `length` and `start`, or there is none. Redis
-- reads a value of a foreign type as missing, too, and would write over it.

local found = call_redis('MGET', unpack(keys))
if records and found[last + 1] then return found[last + 1] end

local sub, start_length = string.sub, #start
local missing, empty = not found[1] and { keys[1] }, nil
for i = 2, last do
  local value = found[i]
  if not value then
    if not missing then missing = {} end
    if not empty then empty = string.rep('\0', length) end
    missing[#missing + 1] = keys[i]
    found[i] = empty
  elseif #value ~= length or sub(value, 1, start_length) ~= start then
    return pack('<d', NOT_PLAIN)
  end
end
if missing and call_redis('EXISTS', unpack(missing)) > 0 then return pack('<d', NOT_PLAIN) end
