-- Time never runs backwards, and what comes too late is not done.

local latest = 0
if clock then
  if #clock ~= 8 then return redis.error_reply('FOREIGN value at ' .. keys[1]) end
  latest = unpack_bytes('<d', clock)
  if latest > now then now = latest end
end
if now > valid_until then return pack('<dd', LATE, now) end
