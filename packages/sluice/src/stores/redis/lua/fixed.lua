-- Twin of algorithms/fixed-window.ts: a count and the tick its window ends.
-- Bytes: count, end_at (doubles). A window is open once something was counted in it; until then it has no end to keep.

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
  local count, end_at = 0, 0
  if value then
    if #value ~= 17 then return end
    local letter
    letter, count, end_at = struct.unpack('<Bdd', value)
    if letter ~= 70 then return end
  end
  if now >= end_at then count, end_at = 0, window_end(spec, now, phase) end
  local after, limit = count + cost, spec.limit
  local reset_at = count > 0 and end_at or now
  if after > limit then return cost > limit and NEVER or end_at, count, reset_at end
  return 0, count, reset_at, struct.pack('<Bdd', 70, after, end_at), after, end_at
end

function kernels.fixed()
  local kernel = { letter = 'F' }

  function kernel.fresh()
    return { count = 0, end_at = 0, open = false }
  end

  function kernel.read(value, from)
    if #value - from ~= 15 then return nil end
    local count, end_at = struct.unpack('<dd', value, from)
    return { count = count, end_at = end_at, open = true }
  end

  function kernel.write(state)
    return struct.pack('<dd', state.count, state.open and state.end_at or 0)
  end

  function kernel.locate(state, spec, now, phase)
    if state.open and now < state.end_at then return end
    state.count = 0
    state.open = false
    state.end_at = window_end(spec, now, phase)
  end

  function kernel.judge(state, spec, _, cost)
    if state.count + cost <= spec.limit then return 0 end
    return cost > spec.limit and NEVER or state.end_at
  end

  function kernel.take(state, _, _, cost)
    state.count = state.count + cost
    state.open = true
  end

  function kernel.describe(state, _, now)
    return state.count, state.count > 0 and state.end_at or now
  end

  -- Only if the window charged at tick `at` is still the open one; of a calendar window the end is told.
  function kernel.refund(state, spec, now, cost, at, window_end)
    local same
    if spec.windowTicks > 0 then same = at >= state.end_at - spec.windowTicks and at < state.end_at
    else same = window_end == state.end_at end
    if same then kernel.credit(state, spec, now, cost) end
  end

  function kernel.credit(state, _, _, cost)
    state.count = math.max(0, state.count - cost)
  end

  function kernel.counted(state)
    return state.count
  end

  function kernel.span(spec)
    -- No month of a calendar is longer than 32 days, whatever the clocks do.
    return spec.windowTicks > 0 and spec.windowTicks or 32 * 86400000000
  end

  function kernel.kept_until(state)
    return state.open and state.end_at or 0
  end

  function kernel.copy(state)
    return { count = state.count, end_at = state.end_at, open = state.open }
  end

  return kernel
end
