-- Decides a batch of plain decisions: one limit, cost 1, enforced, nothing held, booked or blocked. That is nearly all there
-- is, so it goes without all that the others need.
--
-- KEYS, ARGV  see entry.lua; then
-- ARGV[4]     how often each key is charged, as JSON; '' if once
-- ARGV[5…]    the numbers of the limit: see the line before this script
-- Reply       as decide.lua, key by key; or -2 alone: something is not plain here, and nothing was done

local counts = ARGV[4] ~= '' and cjson.decode(ARGV[4])
local plainly = plain[spec.kind]
local reply, told, kept_until = { pack('<d', now) }, 1, {}
for i = 3, values + 2 do
  local value = found[i]
  if value == nil then return pack('<d', NOT_PLAIN) end
  for _ = 1, counts and counts[i - 2] or 1 do
    local retry, used, reset_at, value_after, used_after, reset_after = plainly(value, spec, now, 1, 0)
    told = told + 1
    if retry == 0 then
      value = value_after
      kept_until[i] = reset_after
      reply[told] = pack('<ddd', used_after, reset_after - now, 1)
    elseif retry then
      reply[told] = pack('<ddd', used, reset_at - now, retry == NEVER and -1 or (retry - now) * 4)
    else
      return pack('<d', NOT_PLAIN)
    end
  end
  found[i] = value
end
for i = 3, values + 2 do
  if kept_until[i] then call_redis('SETEX', KEYS[i], ttl_text(kept_until[i] - now), found[i]) end
end
return finish(table.concat(reply))
