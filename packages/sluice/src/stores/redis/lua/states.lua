-- The states of keys as tables, for whatever is not plain. By number of the key.

states_library = function()
  local states = {}
  local loaded, by_key, extras_of, phases, dirty, dirty_spec, foreign = {}, {}, {}, {}, {}, {}, {}
  local byte = string.byte
  local extras

  function states.kernel(spec)
    local kernel = loaded[spec.kind]
    if not kernel then
      kernel = kernels[spec.kind]()
      loaded[spec.kind] = kernel
    end
    return kernel
  end

  -- What has to do with blocks, reservations and resets.
  function states.extras()
    if not extras then extras = extras_library() end
    return extras
  end

  -- What a key has of these, or nil.
  function states.extra_of(k)
    return extras_of[k]
  end

  function states.need_extra(k)
    if not extras_of[k] then extras_of[k] = states.extras().none(keys[k + 1]) end
    return extras_of[k]
  end

  -- Can the key have reservations, or does something foreign stand in their place?
  function states.may_hold(k)
    local extra = extras_of[k] or states.extras().none(keys[k + 1])
    return extra.count > 0 or extras.is_ours(extra)
  end

  local function read(k, spec)
    local kernel, value, from = states.kernel(spec), value_at(k), 2
    if value == false then return kernel.fresh(spec, now) end
    if not value then return nil end
    -- The state of a log reads its times from the server: what is new must stand there.
    if k > values and kept_until[k] ~= nil then write_log(k) end
    local letter = byte(value)
    if letter ~= byte(kernel.letter) then
      if letter ~= byte(kernel.letter) + 32 then return nil end
      if k > values then value = call_redis('GETRANGE', keys[k + 1], 0, EXTRAS_END + LOG_HEADER - 2) end
      extras_of[k], from = states.extras().read(value, keys[k + 1])
      if not from then return nil end
    end
    return kernel.read(value, from, keys[k + 1], spec)
  end

  -- The state of a key as of now, or nil where a foreign value stands there.
  function states.at(k, spec, phase)
    local state, kernel = by_key[k], states.kernel(spec)
    if not state then
      if not foreign[k] then state = read(k, spec) end
      foreign[k] = not state
      if not state then return nil end
      by_key[k] = state
      phases[k] = phase
      if kept_until[k] ~= nil then states.touch(k, spec) end
    end
    if extras_of[k] and extras.expire_holds(extras_of[k], kernel, state, spec, now, phase) then states.touch(k, spec) end
    kernel.locate(state, spec, now, phase)
    return state
  end

  -- Has the key been read into a table? Then its bytes in `found` are not to be trusted any more, but will be written.
  function states.has(k)
    return by_key[k] ~= nil
  end

  function states.replace(k, state)
    by_key[k] = state
    extras_of[k] = nil
  end

  -- To be written in the end.
  function states.touch(k, spec)
    if not dirty_spec[k] then dirty[#dirty + 1] = k end
    dirty_spec[k] = spec
  end

  function states.write_all()
    for i = 1, #dirty do
      local k = dirty[i]
      local spec, state, extra = dirty_spec[k], by_key[k], extras_of[k]
      local kernel = states.kernel(spec)
      if extra then
        extras.write(extra, kernel, state, spec, now, phases[k], keys[k + 1])
      elseif k <= values or not kernel.write_in_place(state, spec) then
        local until_tick = kernel.kept_until(state, spec, now)
        call_redis('SETEX', keys[k + 1], ttl_text(until_tick - now), kernel.letter .. kernel.write(state, until_tick))
      end
    end
  end

  return states
end
