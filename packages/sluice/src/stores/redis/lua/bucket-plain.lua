-- The short way of a bucket: see kernels.lua. A key is kept twice as long as it must be, so that most changes need not
-- say again how long.

local ceil = math.ceil

function plain.bucket(value, spec, now, cost, _, _, looks)
  local per_request, per_tick, limit, level, kept_until = spec.perRequest, spec.perTick, spec.limit, 0, 0
  local latest = now -- a clock that was set back must not let the same time drain twice
  if value then
    if #value ~= 41 then return end
    local letter, at, old_request, old_tick
    letter, old_request, old_tick, level, at, kept_until = unpack_bytes('<Bddddd', value)
    if letter ~= 66 or old_request ~= per_request or old_tick ~= per_tick then return end
    if now > at then level = level - (now - at) * per_tick else latest = at end
    if level < 0 then level = 0 end
  end
  local after = level + cost * per_request
  local excess = after - limit * per_request
  local reset_at = (looks or excess > 0) and now + ceil(level / per_tick)
  if excess > 0 then return cost > limit and NEVER or now + ceil(excess / per_tick), level, reset_at end
  local reset_after = now + ceil(after / per_tick)
  local keep
  if reset_after > kept_until then
    kept_until = 2 * reset_after - now
    keep = kept_until
  end
  local bytes = pack('<Bddddd', 66, per_request, per_tick, after, latest, kept_until)
  return 0, level, reset_at, bytes, after, reset_after, keep
end
