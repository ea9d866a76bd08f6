-- The short way of a fixed window: see kernels.lua.

-- The end of the window that holds `now`. A calendar's boundaries come with the spec, some before now and some after.
local function window_end(spec, now, phase)
  if spec.align == 'first' then return now + spec.windowTicks end
  if spec.ends == nil then return (math.floor((now - phase) / spec.windowTicks) + 1) * spec.windowTicks + phase end
  local ends = spec.ends
  for i = 1, #ends do
    if ends[i] > now then return ends[i] end
  end
  local length = ends[#ends] - ends[#ends - 1]
  return ends[#ends] + (math.floor((now - ends[#ends]) / length) + 1) * length
end

function plain.fixed(value, spec, now, cost, phase)
  local count, end_at, keep = 0, 0, nil
  if value then
    if #value ~= 17 then return end
    local letter
    letter, count, end_at = unpack_bytes('<Bdd', value)
    if letter ~= 70 then return end
  end
  if now >= end_at then
    count, end_at = 0, window_end(spec, now, phase)
    keep = end_at
  end
  local after, limit = count + cost, spec.limit
  local reset_at = count > 0 and end_at or now
  if after > limit then return cost > limit and NEVER or end_at, count, reset_at end
  return 0, count, reset_at, pack('<Bdd', 70, after, end_at), after, end_at, keep
end
