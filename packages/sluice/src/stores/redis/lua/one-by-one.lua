-- Makes the decisions of a call in the short form one by one, because something in it is refused or needs its own
-- answer. Nothing here is a function: making one costs as much as several decisions.
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
    local limit = plan[n]
    local letter, full, step, span = limit[1], limit[3], limit[4], limit[5]
    -- The ticks until nothing is counted any more, and those until the charge fits.
    local reset, wait = found[last + n], 0
    if passes then
      local used = found[k] + cost * step
      found[k], changed[k] = used, true
      if letter == 'B' then reset = ceil(used / span)
      elseif elsewhere[k] then reset = (letter == 'F' and elsewhere[k] or (elsewhere[k] + 2) * span) - now end
    elseif letter == 'B' then
      local used, units, per_tick = found[k], cost * step, span
      reset = ceil(used / per_tick)
      -- @include kernels/bucket:judge
    elseif letter == 'F' then
      local used, left = found[k], elsewhere[k] and elsewhere[k] - now or reset
      reset = used > 0 and left or 0
      -- @include kernels/fixed:judge
    elseif letter == 'S' then
      local used, now_index = found[k], floor(now / span)
      -- @include kernels/sliding:judge
    else
      if not kernel_of then kernel_of, spec_of = with_kernels() end
      if not specs[n] then specs[n] = spec_of(plan[n]) end
      local used, spec, state = found[k], specs[n], nil
      -- @include kernels/log:state
      local kernel = kernel_of(spec.kind)
      local retry, _, reset_at = kernel.judge(state, spec, now, cost), kernel.describe(state, spec, now)
      reset, wait = reset_at - now, max(0, retry - now)
    end
    reply[told + 1], reply[told + 2] = found[k], reset
    reply[told + 3] = wait == 0 and 1 or wait == NEVER and NEVER_PASSES or wait * 4
    told = told + 3
  end
  at = last_place + 1
end
answer = pack_all(reply)
