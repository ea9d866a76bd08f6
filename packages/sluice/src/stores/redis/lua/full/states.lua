-- The states of keys as tables, with the extras that a few of them have: see extras.lua.

local states = {}
do
  local by_key, extras_of, phases, dirty, dirty_spec, foreign = {}, {}, {}, {}, {}, {}
  local byte = string.byte

  -- The blocks, reservations and resets of a key, or nil.
  function states.extra_of(k)
    return extras_of[k]
  end

  function states.need_extra(k)
    if not extras_of[k] then extras_of[k] = extras.none(keys[k]) end
    return extras_of[k]
  end

  -- Whether the key can have reservations: false if a foreign value is in their place.
  function states.may_hold(k)
    local extra = extras_of[k] or extras.none(keys[k])
    return extra.count > 0 or extras.is_ours(extra)
  end

  -- False if there is no value, nil if it is foreign. Of a log, only its header and what precedes it.
  local function value_at(k)
    if k <= values then return found[k] end
    local value = redis.pcall('GETRANGE', keys[k], 0, EXTRAS_END + LOG_HEADER - 2)
    if type(value) == 'table' then return nil end
    if value ~= '' then return value end
    -- No value, or an empty one, which is foreign.
    if call_redis('EXISTS', keys[k]) == 1 then return nil end
    return false
  end

  local function read(k, spec)
    local kernel, value, from = kernel_of(spec.kind), value_at(k), 2
    if value == false then return kernel.fresh(spec, now) end
    if not value then return nil end
    local letter = byte(value)
    if letter ~= byte(kernel.letter) then
      if letter ~= byte(kernel.letter) + 32 then return nil end
      extras_of[k], from = extras.read(value, keys[k])
      if not from then return nil end
    end
    return kernel.read(value, from, keys[k], spec)
  end

  -- The state of a key as of now, or nil if its value is foreign.
  function states.at(k, spec, phase)
    local state, kernel = by_key[k], kernel_of(spec.kind)
    if not state then
      if foreign[k] then return nil end
      state = read(k, spec)
      foreign[k] = not state
      if not state then return nil end
      by_key[k] = state
      phases[k] = phase
    end
    if extras_of[k] and extras.expire_holds(extras_of[k], kernel, state, spec, now, phase) then states.touch(k, spec) end
    kernel.locate(state, spec, now, phase)
    return state
  end

  function states.replace(k, state)
    by_key[k] = state
    extras_of[k] = nil
  end

  -- Marks a key to be written at the end.
  function states.touch(k, spec)
    if not dirty_spec[k] then dirty[#dirty + 1] = k end
    dirty_spec[k] = spec
  end

  function states.write_all()
    for _, k in ipairs(dirty) do
      local spec, state, extra = dirty_spec[k], by_key[k], extras_of[k]
      if extra then extras.write(extra, kernel_of(spec.kind), state, spec, now, phases[k], keys[k])
      else write_state(k, state, spec) end
    end
  end
end
