-- The kernels: one file for each kind, the twin of its file in algorithms/.
--
-- A state is a table, read from the bytes of a key. kernel_of(kind) has:
--   letter                               what its values start with
--   fresh(spec, now)                     the state of a key not seen yet
--   read(value, from, key, spec)         the state in `value` from byte `from` on; nil if the length is wrong
--   write(state, until_tick)             its bytes, for a key that is kept until that tick
--   locate(state, spec, now, phase)      brings it to now; the others below want that first
--   judge(state, spec, now, cost)        0 if `cost` fits, else the first tick at which it will, or NEVER
--   take(state, spec, now, cost, id)     counts `cost`, whether it fits or not
--   describe(state, spec, now)           used (in units), and the tick at which nothing is counted any more
--   refund(state, spec, now, cost, at, window_end)   takes back what is still counted of a charge
--                                                    made at tick `at`
--   credit(state, spec, now, cost)       gives `cost` back, until nothing is counted
--   counted(state, spec)                 the requests counted now, rounded up
--   copy(state)                          a copy, to find out what a change would do
--   numbers(state)                       what inspecting shows of it
--   span(spec)                           how many ticks a charge can count at most
--   fresh_from(state)                    the tick from which a fresh state means the same as this one. A kernel has this
--                                        function only if `describe` says another tick

local makers = {}
local made = {}

local function kernel_of(kind)
  if not made[kind] then made[kind] = makers[kind]() end
  return made[kind]
end

-- Ticks to whole seconds, rounded up, as text.
local function ttl_text(ticks)
  return string.format('%d', max(0, ceil(ticks / 1000000)) + SPARE_SECONDS)
end

-- The tick from which on a fresh state would do as well.
local function fresh_from(kernel, state, spec, now)
  if kernel.fresh_from then return kernel.fresh_from(state) end
  local _, reset_at = kernel.describe(state, spec, now)
  return reset_at
end

-- Writes only what is new of a log, if that is enough.
local function write_state(k, state, spec)
  local kernel = kernel_of(spec.kind)
  if k > values and kernel.write_in_place(state, spec) then return end
  local until_tick = fresh_from(kernel, state, spec, now)
  call_redis('SETEX', keys[k], ttl_text(until_tick - now), kernel.letter .. kernel.write(state, until_tick))
end

-- @include kernels/bucket:kernel
-- @include kernels/fixed:kernel
-- @include kernels/sliding:kernel
-- @include kernels/log:kernel
-- @include kernels/slots

-- The numbers of a limit that came as five words.
local function spec_of(limit)
  local letter, _, full, step, span = unpack(limit)
  if letter == 'B' then return { kind = 'bucket', limit = full / step, perRequest = step, perTick = span } end
  if letter == 'L' then return { kind = 'log', limit = full, windowTicks = span } end
  if letter == 'S' then return { kind = 'sliding', limit = full, subTicks = span, buckets = 1 } end
  return { kind = 'fixed', limit = full, windowTicks = math.abs(span), align = span < 0 and 'first' or 'epoch' }
end

local ENFORCED = -2
local NEVER_BLOCKED = -2
