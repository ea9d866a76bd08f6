-- Twin of algorithms/concurrency.ts: the holders of slots, in order of expiry.
-- Bytes: for each holder id, cost, expiry (doubles).

function makers.slots()
  local kernel = { letter = 'C' }

  function kernel.fresh()
    return { held = 0 }
  end

  function kernel.read(value, from)
    local bytes = #value - from + 1
    if fmod(bytes, 24) ~= 0 then return nil end
    local state = { held = 0 }
    for offset = from, #value, 24 do
      local id, cost, expiry = unpack_bytes('<ddd', value, offset)
      state[#state + 1] = { id = id, cost = cost, expiry = expiry }
      state.held = state.held + cost
    end
    return state
  end

  function kernel.write(state)
    local bytes = {}
    for i, holder in ipairs(state) do bytes[i] = pack('<ddd', holder.id, holder.cost, holder.expiry) end
    return table.concat(bytes)
  end

  function kernel.locate(state, _, now)
    while state[1] ~= nil and state[1].expiry <= now do state.held = state.held - table.remove(state, 1).cost end
  end

  function kernel.judge(state, spec, _, cost)
    local over = state.held + cost - spec.limit
    if over <= 0 then return 0 end
    if cost > spec.limit then return NEVER end
    local freed = 0
    for _, holder in ipairs(state) do
      freed = freed + holder.cost
      if freed >= over then return holder.expiry end
    end
  end

  function kernel.take(state, spec, now, cost, id)
    local expiry = now + spec.ttlTicks
    local place = #state + 1
    while place > 1 and state[place - 1].expiry > expiry do place = place - 1 end
    table.insert(state, place, { id = id, cost = cost, expiry = expiry })
    state.held = state.held + cost
  end

  function kernel.describe(state, _, now)
    return state.held, state[1] == nil and now or max(now, state[#state].expiry)
  end

  -- A slot is given back by `release`: there is nothing else to refund.
  function kernel.refund() end
  function kernel.credit() end

  local function find(state, id)
    for i, holder in ipairs(state) do
      if holder.id == id then return i end
    end
  end

  -- Gives the slot back. Returns 1 if it was still held.
  function kernel.release(state, id)
    local place = find(state, id)
    if place == nil then return 0 end
    state.held = state.held - table.remove(state, place).cost
    return 1
  end

  -- Holds the slot for another ttl. Returns 1 if it was still held.
  function kernel.renew(state, spec, now, id)
    local place = find(state, id)
    if place == nil then return 0 end
    local holder = table.remove(state, place)
    state.held = state.held - holder.cost
    kernel.take(state, spec, now, holder.cost, id)
    return 1
  end

  function kernel.span(spec)
    return spec.ttlTicks
  end

  function kernel.counted(state)
    return state.held
  end

  function kernel.numbers(state)
    local numbers = {}
    for _, holder in ipairs(state) do
      numbers[#numbers + 1] = holder.cost
      numbers[#numbers + 1] = holder.expiry
    end
    return numbers
  end

  return kernel
end
