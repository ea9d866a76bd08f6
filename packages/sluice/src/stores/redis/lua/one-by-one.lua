-- Makes the decisions of a call in the short form one by one, because something in it is refused or needs its own
-- answer.
local limit_of = {}
for n = 1, limits do
  local _, count, _, step, _, before_first = unpack(plan[n])
  for k = before_first + 1, before_first + count do
    found[k] = found[k] - (sums and sums[k - 1] or 1) * step
    limit_of[k] = n
  end
end

local kernel_of, spec_of
local specs = {}
-- The verdict of a charge that is not taken: it, or another charge of its decision, is refused.
local function describe(n, k, cost)
  local letter, _, full, step, span = unpack(plan[n])
  local used, ticks, reset, wait = found[k], found[last + n], 0, nil
  if letter == 'B' then
    local units, per_tick = cost * step, span
    reset = ceil(used / per_tick)
    -- @include kernels/bucket:judge
  elseif letter == 'F' then
    local left = elsewhere[k] and elsewhere[k] - now or ticks
    if used > 0 then reset = left end
    -- @include kernels/fixed:judge
  else
    if not kernel_of then kernel_of, spec_of = with_kernels() end
    if not specs[n] then specs[n] = spec_of(plan[n]) end
    local now_index, spec, state = floor(now / span), specs[n], nil
    if letter == 'L' then
      -- @include kernels/log:state
    else
      -- @include kernels/sliding:state
    end
    local kernel = kernel_of(spec.kind)
    local retry, _, reset_at = kernel.judge(state, spec, now, cost), kernel.describe(state, spec, now)
    reset, wait = reset_at - now, max(0, retry - now)
  end
  return reset, wait == 0 and 1 or wait == NEVER and NEVER_PASSES or wait * 4
end

-- The ticks until nothing is counted any more, after a charge was taken.
local function reset_after(n, k)
  local letter, _, _, _, span = unpack(plan[n])
  if letter == 'B' then return ceil(found[k] / span) end
  if not elsewhere[k] then return found[last + n] end
  return (letter == 'F' and elsewhere[k] or (elsewhere[k] + 2) * span) - now
end

changed = {}
local reply, told, at, charges_end = { now }, 1, 1, #charges
while at < charges_end do
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
    reply[told + 1], reply[told + 2], reply[told + 3] = found[k], reset, code
    told = told + 3
  end
  at = last_place + 1
end
answer = pack_all(reply)
