-- Decides a batch of plain decisions: one limit, cost 1, enforced, nothing held, booked or blocked. That is nearly all there
-- is, so it goes without all that the others need.
--
-- KEYS, ARGV  see entry.lua; then
-- ARGV[3]     how often each key is charged, as JSON; '' if once
-- ARGV[4…]    the numbers of the limit: see the line before this script
-- Reply       as decide.lua, key by key; or -2 alone: something is not plain here, and nothing was done

local counts = ARGV[3] ~= '' and cjson.decode(ARGV[3])
local plainly = plain[spec.kind]
local reply, at, changed, kept_until = { now }, 1, {}, nil
for i = 2, values + 1 do
  local value = found[i]
  if value == nil then return pack('<d', NOT_PLAIN) end
  for _ = 1, counts and counts[i - 1] or 1 do
    local retry, used, reset_at, value_after, used_after, reset_after, keep = plainly(value, spec, now, 1, 0)
    if not retry then return pack('<d', NOT_PLAIN) end
    local code = 1
    if retry == 0 then
      value, used, reset_at = value_after, used_after, reset_after
      changed[i] = value
      if keep then
        if not kept_until then kept_until = {} end
        kept_until[i] = keep
      end
    else
      code = retry == NEVER and -1 or (retry - now) * 4
    end
    reply[at + 1], reply[at + 2], reply[at + 3] = used, reset_at - now, code
    at = at + 3
  end
end
for i = 2, values + 1 do
  if kept_until and kept_until[i] then call_redis('SETEX', KEYS[i], ttl_text(kept_until[i] - now), changed[i])
  elseif changed[i] then call_redis('SETRANGE', KEYS[i], '0', changed[i]) end
end
if at == 4 then return finish(pack('<dddd', unpack(reply))) end
return finish(pack_all(reply))
