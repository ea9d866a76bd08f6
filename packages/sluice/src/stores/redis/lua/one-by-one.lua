-- Makes the decisions of a call in the short form one by one, because something in it is refused or needs its own
-- answer.
local specs, limit_of = {}, {}
for n = 1, limits do
  local _, count, _, step, _, before_first = unpack(plan[n])
  specs[n] = spec_of(plan[n])
  for k = before_first + 1, before_first + count do
    found[k] = found[k] - (sums and sums[k - 1] or 1) * step
    limit_of[k] = n
  end
end

-- The verdict of a charge that is not taken: it, or another charge of its decision, is refused.
local function describe(n, k, cost)
  local letter, _, _, step, span = unpack(plan[n])
  local used, ticks, now_index, spec, state = found[k], found[last + n], floor(now / span), specs[n], nil
  if letter == 'B' then
    -- @include kernels/bucket:state
  elseif letter == 'F' then
    -- @include kernels/fixed:state
  elseif letter == 'L' then
    -- @include kernels/log:state
  else
    -- @include kernels/sliding:state
  end
  local kernel = kernel_of(spec.kind)
  local retry, _, reset_at = kernel.judge(state, spec, now, cost), kernel.describe(state, spec, now)
  return reset_at - now, retry == 0 and 1 or retry == NEVER and NEVER_PASSES or (retry - now) * 4
end

-- The ticks until nothing is counted any more, after a charge was taken.
local function reset_after(n, k)
  local letter, _, _, _, span = unpack(plan[n])
  if letter == 'B' then return ceil(found[k] / span) end
  if not elsewhere[k] then return found[last + n] end
  return (letter == 'F' and elsewhere[k] or (elsewhere[k] + 2) * span) - now
end

changed = {}
local reply, at = { now }, 1
while at < #charges do
  local first, last_place, passes = at + 1, at + 2 * charges[at], true
  for i = first, last_place, 2 do
    local k, limit = charges[i], plan[limit_of[charges[i]]]
    if found[k] + charges[i + 1] * limit[4] > limit[3] then passes = false end
  end
  for i = first, last_place, 2 do
    local k, cost, n = charges[i], charges[i + 1], limit_of[charges[i]]
    local reset, code = nil, 1
    if passes then
      found[k], changed[k] = found[k] + cost * plan[n][4], true
      reset = reset_after(n, k)
    else
      reset, code = describe(n, k, cost)
    end
    local place = #reply
    reply[place + 1], reply[place + 2], reply[place + 3] = found[k], reset, code
  end
  at = last_place + 1
end
return pack_all(reply)
