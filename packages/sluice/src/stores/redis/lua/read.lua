-- What stands at the keys that are read whole, by number; and the reply, if this call was made before.

local values = last - 1 - logs

local found
if logs == 0 then
  found = call_redis('MGET', unpack(keys))
  if record and found[last + 1] then return found[last + 1] end
else
  found = call_redis('MGET', unpack(keys, 1, values + 1))
  local reply = record and call_redis('GET', record)
  if reply then return reply end
end
local clock = found[1]
