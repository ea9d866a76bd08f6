-- What the scripts have in common: the call, its keys, and reading and writing what stands there.
--
-- KEYS[1]    the latest time seen in this slot: time never runs backwards, whatever the server's clock does
-- KEYS[2]    the reply to this very call: a client that lost its connection may send a call twice
-- KEYS[3…]   the states: first `values` keys that are read whole, then the logs
-- ARGV[1]    the call, as JSON: { values, specs, keep, … }, `keep` being the seconds a reply is kept for a second asking
-- ARGV[2]    the tick after which nobody waits for an answer any more, 0 for never; then nothing is done
-- Reply      doubles, little-endian, the first being now; -1 and now, if it was too late
--
-- All that can go wrong does so before the first write, since what an error leaves behind is not taken back.

local pack, unpack_bytes, byte, call_redis = struct.pack, struct.unpack, string.byte, redis.call
local LATE, FOREIGN = -1, -3
local call = cjson.decode(ARGV[1])
local values = call.values
local now = server_time()

local found = call_redis('MGET', unpack(KEYS, 1, values + 2))
if found[2] then return found[2] end
local latest = 0
if found[1] then
  if #found[1] ~= 8 then return redis.error_reply('FOREIGN value at ' .. KEYS[1]) end
  latest = unpack_bytes('<d', found[1])
  if latest > now then now = latest end
end
local valid_until = tonumber(ARGV[2])
if valid_until > 0 and now > valid_until then return pack('<dd', LATE, now) end

-- Redis reads a value of a foreign type as missing, and would write over it.
local foreign = {}
do
  local missing = {}
  for i = 1, values + 2 do
    if not found[i] and i ~= 2 then missing[#missing + 1] = KEYS[i] end
  end
  if missing[1] and call_redis('EXISTS', unpack(missing)) > 0 then
    for i = 1, values + 2 do
      if not found[i] and call_redis('EXISTS', KEYS[i]) == 1 then foreign[i - 2] = true end
    end
    if foreign[-1] then return redis.error_reply('FOREIGN value at ' .. KEYS[1]) end
  end
end

local specs = call.specs
do
  local loaded = {}
  for i = 1, #specs do
    local spec = specs[i]
    local kernel = loaded[spec.kind]
    if not kernel then
      kernel = kernels[spec.kind]()
      loaded[spec.kind] = kernel
    end
    spec.kernel = kernel
  end
end

-- By number of the key. `extras_of` has what few keys have: see extras.lua.
local states, extras_of, phases, dirty, dirty_spec = {}, {}, {}, {}, {}
local extras

local function with_extras()
  if not extras then extras = extras_library() end
  return extras
end

-- A log is read by its header alone, unless it has extras.
local function value_of(k)
  if k <= values then return found[k + 2] end
  local header = redis.pcall('GETRANGE', KEYS[k + 2], 0, 40)
  if type(header) == 'table' then return nil end
  if header == '' then return false end
  return byte(header) == 108 and call_redis('GET', KEYS[k + 2]) or header
end

-- Reads the state of a key; nil where a foreign value stands there.
local function read(k, spec)
  local kernel, value, from = spec.kernel, value_of(k), 2
  if value == false then return kernel.fresh(spec, now) end
  if not value then return nil end
  local letter = byte(value)
  if letter ~= byte(kernel.letter) then
    if letter ~= byte(kernel.letter) + 32 then return nil end
    extras_of[k], from = with_extras().read(value)
    if not from then return nil end
  end
  return kernel.read(value, from, KEYS[k + 2], spec)
end

-- The state of a key as of now, or nil where a foreign value stands there.
local function state_of(k, spec, phase)
  local state = states[k]
  if not state then
    if not foreign[k] then state = read(k, spec) end
    if not state then
      foreign[k] = true
      return nil
    end
    states[k] = state
    phases[k] = phase
  end
  if extras_of[k] then extras.expire_holds(extras_of[k], spec.kernel, state, spec, now, phase) end
  spec.kernel.locate(state, spec, now, phase)
  return state
end

local function touch(k, spec)
  if not dirty_spec[k] then dirty[#dirty + 1] = k end
  dirty_spec[k] = spec
end

local function extras_for(k)
  if not extras_of[k] then extras_of[k] = with_extras().none() end
  return extras_of[k]
end

local function write_all()
  for i = 1, #dirty do
    local k = dirty[i]
    local spec, state, extra = dirty_spec[k], states[k], extras_of[k]
    local kernel = spec.kernel
    if extra then
      local value, ttl = extras.value(extra, kernel, state, spec, now, phases[k])
      call_redis('SETEX', KEYS[k + 2], ttl, value)
    elseif k <= values or not kernel.write_in_place(state, spec) then
      call_redis('SETEX', KEYS[k + 2], ttl_text(kernel.kept_until(state, spec, now) - now), kernel.letter .. kernel.write(state))
    end
  end
  if now - latest >= CLOCK_TICKS then call_redis('SETEX', KEYS[1], '86400', pack('<d', now)) end
end

local function answer(reply)
  write_all()
  call_redis('SETEX', KEYS[2], call.keep, reply)
  return reply
end
