-- What few keys have beside their count: a block, reservations, and how often the key was reset.
--
-- The bytes stand before the count's: how many reservations (u16), then resets, blocked until, strikes, when to forget
-- the strikes, then each reservation's id, cost and expiry, soonest expiry first (doubles).

local function read_extras(value)
  if #value < 35 then return nil end
  local count, resets, blocked_until, strikes, forget_at = struct.unpack('<Hdddd', value, 2)
  if #value < 35 + count * 24 then return nil end
  local extras = {
    resets = resets, blocked_until = blocked_until, strikes = strikes, forget_at = forget_at, holds = {}, held = 0,
  }
  for i = 1, count do
    local id, cost, expiry = struct.unpack('<ddd', value, 12 + i * 24)
    extras.holds[i] = { id = id, cost = cost, expiry = expiry }
    extras.held = extras.held + cost
  end
  return extras, 36 + count * 24
end

local function write_extras(extras)
  local bytes = { struct.pack('<Hdddd', #extras.holds, extras.resets, extras.blocked_until, extras.strikes, extras.forget_at) }
  for i, hold in ipairs(extras.holds) do bytes[i + 1] = struct.pack('<ddd', hold.id, hold.cost, hold.expiry) end
  return table.concat(bytes)
end

local function no_extras()
  return { resets = 0, blocked_until = 0, strikes = 0, forget_at = 0, holds = {}, held = 0 }
end

-- Twin of memory/blocks.ts: a refusal starts a block, each longer than the last.
local function strike(extras, block, now)
  local strikes = extras.forget_at <= now and 0 or extras.strikes
  local ticks = math.ceil(math.min(block.max, block.first * block.factor ^ strikes))
  extras.blocked_until = now + ticks
  extras.strikes = strikes + 1
  extras.forget_at = now + ticks + (block.factor > 1 and block.max or 0)
end

-- Twin of memory/holds.ts: what is held does not drain, and expires at what was reserved.
local function add_hold(extras, id, cost, expiry)
  local place = #extras.holds + 1
  while place > 1 and extras.holds[place - 1].expiry > expiry do place = place - 1 end
  table.insert(extras.holds, place, { id = id, cost = cost, expiry = expiry })
  extras.held = extras.held + cost
end

local function drop_hold(extras, place)
  local hold = table.remove(extras.holds, place)
  extras.held = extras.held - hold.cost
  return hold
end

-- Charges what has expired, as of its expiry; true if there was any.
local function expire_holds(extras, kernel, state, spec, now, phase)
  local expired = false
  while extras.holds[1] ~= nil and extras.holds[1].expiry <= now do
    local hold = drop_hold(extras, 1)
    kernel.locate(state, spec, hold.expiry, phase)
    kernel.take(state, spec, hold.expiry, hold.cost)
    expired = true
  end
  return expired
end

-- The first tick at which `cost` passes beside what is held, if nobody settles: as each expires, it drains.
local function retry_beside_holds(extras, kernel, state, spec, now, cost, phase)
  local future, held, at = kernel.copy(state), extras.held, now
  local function pass_at()
    kernel.locate(future, spec, at, phase)
    local retry = kernel.judge(future, spec, at, cost + held)
    return retry == 0 and at or retry
  end
  for _, hold in ipairs(extras.holds) do
    local passes = pass_at()
    if passes <= hold.expiry then return passes end
    kernel.locate(future, spec, hold.expiry, phase)
    kernel.take(future, spec, hold.expiry, hold.cost)
    held = held - hold.cost
    at = hold.expiry
  end
  return pass_at()
end

-- The tick at which all is gone, if nobody settles.
local function reset_beside_holds(extras, kernel, state, spec, now, phase)
  local future, at = kernel.copy(state), now
  for _, hold in ipairs(extras.holds) do
    kernel.locate(future, spec, hold.expiry, phase)
    kernel.take(future, spec, hold.expiry, hold.cost)
    at = hold.expiry
  end
  kernel.locate(future, spec, at, phase)
  local _, reset_at = kernel.describe(future, spec, at)
  return reset_at
end
