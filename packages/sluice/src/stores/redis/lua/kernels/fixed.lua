-- Twin of algorithms/fixed-window.ts: a count and the tick its window ends.
-- Bytes: count, end_at (doubles). The first charge opens a window. Before that the state has no end.

-- @part count
local value, end_at = found[k], 0
if value then
  if #value ~= 17 then only_counts = false break end
  local letter
  letter, used, end_at = unpack_bytes('<Bdd', value)
  if letter ~= 70 then only_counts = false break end
else
  missing[#missing + 1] = keys[k]
end
if now >= end_at then
  if whole == NONE then whole = {} end
  used, whole[k] = 0, true
elseif end_at ~= new_end then
  if elsewhere == NONE then elsewhere = {} end
  elsewhere[k], one_by_one = end_at, true
end
used = used + (sums and sums[k - 1] or 1)

-- @part judge
-- How many ticks from now `cost` more fits.
wait = used + cost <= full and 0 or cost > full and NEVER or left

-- @part write
if not whole[k] then call_redis('SETRANGE', keys[k], '1', pack('<d', used))
else call_redis('SETEX', keys[k], seconds, pack('<Bdd', 70, used, now + ticks)) end

-- @part kernel
-- The end of the window that contains `now`. The spec brings a calendar's boundaries, some before now and some after.
local function window_end(spec, now, phase)
  if spec.align == 'first' then return now + spec.windowTicks end
  if spec.ends == nil then return (floor((now - phase) / spec.windowTicks) + 1) * spec.windowTicks + phase end
  local ends = spec.ends
  for i = 1, #ends do
    if ends[i] > now then return ends[i] end
  end
  local length = ends[#ends] - ends[#ends - 1]
  return ends[#ends] + (floor((now - ends[#ends]) / length) + 1) * length
end

function makers.fixed()
  local kernel = { letter = 'F' }

  function kernel.fresh()
    return { count = 0, end_at = 0, open = false }
  end

  function kernel.read(value, from)
    if #value - from ~= 15 then return nil end
    local count, end_at = unpack_bytes('<dd', value, from)
    return { count = count, end_at = end_at, open = true }
  end

  function kernel.write(state)
    return pack('<dd', state.count, state.open and state.end_at or 0)
  end

  function kernel.locate(state, spec, now, phase)
    if state.open and now < state.end_at then return end
    state.count = 0
    state.open = false
    state.end_at = window_end(spec, now, phase)
  end

  function kernel.judge(state, spec, now, cost)
    local used, full, left, wait = state.count, spec.limit, state.end_at - now, nil
    -- @include kernels/fixed:judge
    return wait == 0 and 0 or now + wait
  end

  function kernel.take(state, _, _, cost)
    state.count = state.count + cost
    state.open = true
  end

  function kernel.describe(state, _, now)
    return state.count, state.count > 0 and state.end_at or now
  end

  -- Gives back only if the window of tick `at` is still open. The caller passes the end of a calendar window.
  function kernel.refund(state, spec, now, cost, at, window_end)
    local same
    if spec.windowTicks > 0 then same = at >= state.end_at - spec.windowTicks and at < state.end_at
    else same = window_end == state.end_at end
    if same then kernel.credit(state, spec, now, cost) end
  end

  function kernel.credit(state, _, _, cost)
    state.count = max(0, state.count - cost)
  end

  function kernel.counted(state)
    return state.count
  end

  function kernel.span(spec)
    -- No month is longer than 32 days, even with changes to summer time.
    return spec.windowTicks > 0 and spec.windowTicks or 32 * 86400000000
  end

  function kernel.fresh_from(state)
    return state.open and state.end_at or 0
  end

  function kernel.copy(state)
    return { count = state.count, end_at = state.end_at, open = state.open }
  end

  function kernel.numbers(state)
    return { state.count, state.end_at }
  end

  return kernel
end
