-- The state of one key as numbers. It writes only the charges of expired reservations.
--
-- call.inspect  the phase of windows that start by their key; the state is KEYS[2], its limit the only one
-- Reply         now, used (in units, as a decision says it), the tick its block ends (0 without one), bytes, how many
--               reservations it has, cost and expiry of each, then the numbers of its kernel; or now and -3, if the value
--               is foreign

local function inspect(phase)
  local HOLD_BYTES = 24 -- a member of the set and its score
  local spec = specs[1]
  local state, kernel = states.at(2, spec, phase), kernel_of(spec.kind)
  if not state then return pack('<dd', now, FOREIGN) end
  local extra = states.extra_of(2) or extras.none(keys[2])
  local per_request, blocked_until = spec.perRequest or 1, 0
  local used = kernel.describe(state, spec, now) + extra.held * per_request
  if extra.blocked_until > now then
    blocked_until = extra.blocked_until
    used = max(used, spec.limit * per_request)
  end
  local holds = extra.count > 0 and extras.all(extra) or {}
  local bytes = call_redis('STRLEN', keys[2]) + #holds * HOLD_BYTES
  local numbers = { now, used, blocked_until, bytes, #holds }
  local function add(number) numbers[#numbers + 1] = number end
  for _, hold in ipairs(holds) do
    add(hold.cost)
    add(hold.expiry)
  end
  for _, number in ipairs(kernel.numbers(state)) do add(number) end
  states.write_all()
  return pack_all(numbers)
end
