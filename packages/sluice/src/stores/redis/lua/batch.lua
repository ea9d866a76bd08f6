-- What both scripts have in common: the call, its keys, and reading and writing what stands there.
--
-- KEYS[1]    the latest time seen in this slot: time never runs backwards, whatever the server's clock does
-- KEYS[2]    the reply of this very call: a client that lost its connection may send a call twice
-- KEYS[3…]   the states: first `values` keys that are read whole, then the logs
-- ARGV[1]    the call, as JSON: { values, specs, keep, … }, `keep` being the seconds a reply is kept for a second asking
-- ARGV[2]    the tick after which nobody waits for an answer any more, 0 for never; then nothing is done
--
-- All that can go wrong does so before the first write, since what an error leaves behind is not taken back.

local LATE = -1
local call = cjson.decode(ARGV[1])
local now = server_time()

local found
if call.values + 2 == #KEYS then found = redis.call('MGET', unpack(KEYS))
else found = redis.call('MGET', unpack(KEYS, 1, call.values + 2)) end
if found[2] then return cmsgpack.unpack(found[2]) end
if found[1] then
  if #found[1] ~= 8 then return redis.error_reply('FOREIGN value at ' .. KEYS[1]) end
  local latest = struct.unpack('<d', found[1])
  if latest > now then now = latest end
end
local valid_until = tonumber(ARGV[2])
if valid_until > 0 and now > valid_until then return { LATE, now } end

-- Redis reads a value of a foreign type as missing, and would write over it.
local foreign = {}
do
  local missing = {}
  if not found[1] then missing[1] = KEYS[1] end
  for i = 3, call.values + 2 do
    if not found[i] then missing[#missing + 1] = KEYS[i] end
  end
  if #missing > 0 and redis.call('EXISTS', unpack(missing)) > 0 then
    if not found[1] and redis.call('EXISTS', KEYS[1]) == 1 then
      return redis.error_reply('FOREIGN value at ' .. KEYS[1])
    end
    for i = 3, call.values + 2 do
      if not found[i] and redis.call('EXISTS', KEYS[i]) == 1 then foreign[i - 2] = true end
    end
  end
end

local specs = call.specs
local loaded = {}
for _, spec in ipairs(specs) do
  local kernel = loaded[spec.kind]
  if kernel == nil then
    kernel = kernels[spec.kind]()
    loaded[spec.kind] = kernel
  end
  spec.kernel = kernel
end

-- By number of the key. A key of a foreign value has none.
local states, extras_of, phases, dirty, dirty_spec = {}, {}, {}, {}, {}

local function read(k, spec)
  local kernel, value = spec.kernel, nil
  if k > call.values then
    local header = redis.pcall('GETRANGE', KEYS[k + 2], 0, 40)
    if type(header) == 'table' then
      foreign[k] = true
      return nil
    end
    if #header > 0 then
      value = header
      if string.byte(value) == 108 then value = redis.call('GET', KEYS[k + 2]) end
    end
  else
    value = found[k + 2]
  end
  if not value then return kernel.fresh(spec, now) end
  local letter, from = string.byte(value), 2
  if letter == spec.letter + 32 then
    extras_of[k], from = read_extras(value)
    if from == nil then return nil end
  elseif letter ~= spec.letter then
    return nil
  end
  return kernel.read(value, from, KEYS[k + 2], spec)
end

-- The state of a key as of now, or nil where a foreign value stands there.
local function state_of(k, spec, phase)
  local state = states[k]
  if state == nil then
    if not foreign[k] then state = read(k, spec) end
    if state == nil then
      foreign[k] = true
      return nil
    end
    states[k] = state
    phases[k] = phase
  end
  local extras = extras_of[k]
  if extras ~= nil then expire_holds(extras, spec.kernel, state, spec, now, phase) end
  spec.kernel.locate(state, spec, now, phase)
  return state
end

local function touch(k, spec)
  if dirty_spec[k] == nil then dirty[#dirty + 1] = k end
  dirty_spec[k] = spec
end

local function extras_for(k)
  local extras = extras_of[k]
  if extras == nil then
    extras = no_extras()
    extras_of[k] = extras
  end
  return extras
end

-- The tick until which a key must be kept: until it is as good as a fresh one.
local function needed_until(k, spec, state)
  local kernel, extras = spec.kernel, extras_of[k]
  local kept_until = kernel.kept_until(state, spec, now)
  if extras == nil then return kept_until end
  if extras.held > 0 then
    kept_until = math.max(kept_until, reset_beside_holds(extras, kernel, state, spec, now, phases[k]))
  end
  -- What was charged before a reset must not be refunded after it: that is known for as long as it could be.
  if extras.resets > 0 then kept_until = math.max(kept_until, now + spec.spanTicks) end
  return math.max(kept_until, extras.blocked_until, extras.forget_at)
end

local function is_plain(extras)
  return extras.resets == 0 and extras.forget_at <= now and extras.blocked_until <= now and extras.holds[1] == nil
end

local function write_all()
  for _, k in ipairs(dirty) do
    local spec, state = dirty_spec[k], states[k]
    local kernel, extras = spec.kernel, extras_of[k]
    if extras ~= nil and is_plain(extras) then extras = nil end
    if extras_of[k] ~= nil or k <= call.values or not kernel.write_in_place(state, spec) then
      local ttl = ttl_text(needed_until(k, spec, state) - now)
      local value
      if extras == nil then value = string.char(spec.letter) .. kernel.write(state)
      else value = string.char(spec.letter + 32) .. write_extras(extras) .. kernel.write(state) end
      redis.call('SETEX', KEYS[k + 2], ttl, value)
    end
  end
  redis.call('SETEX', KEYS[1], '86400', struct.pack('<d', now))
end

local function answer(reply)
  write_all()
  redis.call('SETEX', KEYS[2], call.keep, cmsgpack.pack(reply))
  return reply
end
