-- The short way of a bucket: see kernels.lua.

function plain.bucket(value, spec, now, cost)
  local per_request, per_tick, limit, level = spec.perRequest, spec.perTick, spec.limit, 0
  if value then
    if #value ~= 33 then return end
    local letter, at, old_request, old_tick
    letter, level, at, old_request, old_tick = struct.unpack('<Bdddd', value)
    if letter ~= 66 or old_request ~= per_request or old_tick ~= per_tick then return end
    if now > at then level = level - (now - at) * per_tick end
    if level < 0 then level = 0 end
  end
  local after = level + cost * per_request
  local excess = after - limit * per_request
  local reset_at = now + math.ceil(level / per_tick)
  if excess > 0 then return cost > limit and NEVER or now + math.ceil(excess / per_tick), level, reset_at end
  local bytes = struct.pack('<Bdddd', 66, after, now, per_request, per_tick)
  return 0, level, reset_at, bytes, after, now + math.ceil(after / per_tick)
end
