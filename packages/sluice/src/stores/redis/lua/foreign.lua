-- Redis reads a value of a foreign type as missing, and would write over it. What is foreign is nil from here on.
do
  local missing
  for i = 1, values + 1 do
    if not found[i] then
      if not missing then missing = {} end
      missing[#missing + 1] = keys[i]
    end
  end
  if missing and call_redis('EXISTS', unpack(missing)) > 0 then
    if not found[1] and call_redis('EXISTS', keys[1]) == 1 then return redis.error_reply('FOREIGN value at ' .. keys[1]) end
    for i = 2, values + 1 do
      if not found[i] and call_redis('EXISTS', keys[i]) == 1 then found[i] = nil end
    end
  end
end
