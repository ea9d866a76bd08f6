-- A call of plain decisions under one limit, a bucket, each with a key of its own: see plain.lua for what that is. These are
-- most calls of several, and a cluster's are small, so that what a script does once counts: there is no plan here, and no
-- table that is not needed.
--
-- ARGV[2…]    as one-bucket.lua
-- Reply       as plain.lua

local ceil = math.ceil
local full, per_request, per_tick = args[2] + 0, args[3] + 0, (args[4] or 1) + 0
local some_refused = false
-- By key, where there is one: what must be written whole; since when it has drained, if that lies in the future.
local whole, elsewhere
local missing = not clock and { keys[1] }

for i = 2, last do
  local value, used = found[i], 0
  if value then
    if #value ~= 41 then return pack('<d', NOT_PLAIN) end
    local letter, old_request, old_tick, level, since, kept_until = unpack_bytes('<Bddddd', value)
    -- A key whose rate has changed is not plain.
    if old_request ~= per_request or old_tick ~= per_tick or letter ~= 66 then return pack('<d', NOT_PLAIN) end
    used = level
    if now > since then
      used = used - (now - since) * per_tick
      if used < 0 then used = 0 end
    elseif since > now then
      -- A clock that was set back must not let the same time drain twice.
      if not elsewhere then elsewhere = {} end
      elsewhere[i] = since
    end
    if (used + per_request) / per_tick > kept_until - now then
      if not whole then whole = {} end
      whole[i] = true
    end
  else
    if not missing then missing = {} end
    missing[#missing + 1] = keys[i]
    if not whole then whole = {} end
    whole[i] = true
  end
  used = used + per_request
  if used > full then some_refused = true end
  found[i] = used
end
-- Redis reads a value of a foreign type as missing, too, and would write over it.
if missing and call_redis('EXISTS', unpack(missing)) > 0 then return pack('<d', NOT_PLAIN) end

local answer
if not some_refused then
  found[1], found[last + 1] = now, 0
  answer = pack('<' .. string.rep('d', last + 1), unpack(found, 1, last + 1))
else
  local reply = { now }
  for i = 2, last do
    local used, code = found[i], 1
    if used > full then
      code = full == 0 and -1 or ceil((used - full) / per_tick) * 4
      used = used - per_request
      found[i] = false -- which is not written
    end
    local at = 3 * i - 4
    reply[at], reply[at + 1], reply[at + 2] = used, ceil(used / per_tick), code
  end
  answer = pack('<' .. string.rep('d', #reply), unpack(reply))
end

local kept_used, seconds, bytes
for i = 2, last do
  local used = found[i]
  if used then
    local since = elsewhere and elsewhere[i] or now
    if not (whole and whole[i]) then
      call_redis('SETRANGE', keys[i], '17', pack('<dd', used, since))
    else
      -- Kept twice as long as it must be, so that most changes need not say again how long. Buckets that were empty become
      -- the same, and those are most.
      if used ~= kept_used or since ~= now then
        kept_used = since == now and used
        local keep = ceil(2 * used / per_tick / 1000000)
        bytes = pack('<Bddddd', 66, per_request, per_tick, used, since, now + keep * 1000000)
        seconds = string.format('%.0f', keep + SPARE_SECONDS)
      end
      call_redis('SETEX', keys[i], seconds, bytes)
    end
  end
end
