-- What decide.lua and inspect.lua have in common.

-- Keys whose new bytes stand in `found` already, by number, with the tick until which to keep them; false where they are
-- kept long enough.
local changed, kept_until = {}, {}
-- How the logs among them stood before.
local headers = {}
-- All that is not plain: see states.lua.
local states, states_library

local function with_states()
  if not states then states = states_library() end
  return states
end

-- What stands at a key: false for nothing, nil for something foreign. A log is read by its header alone.
local function value_at(k)
  if k <= values or headers[k] ~= nil then return found[k + 1] end
  local header = redis.pcall('GETRANGE', keys[k + 1], 0, LOG_HEADER - 1)
  headers[k] = false
  if type(header) == 'table' then return nil end
  -- Nothing there, or a value of nothing, which is not ours.
  if header == '' and call_redis('EXISTS', keys[k + 1]) == 1 then return nil end
  headers[k] = header
  found[k + 1] = header ~= '' and header
  return found[k + 1]
end

-- Of a log only the times that are new, all of them now's, and the header are written.
local function write_log(k)
  local _, first, count, _, _, ring = unpack_bytes('<Bddddd', found[k + 1])
  local pushed = 0
  if headers[k] ~= '' then
    local _, old_first, old_count = unpack_bytes('<Bdd', headers[k])
    pushed = old_first + old_count
  end
  local fresh, time = first + count - pushed, pack('<d', now)
  while fresh > 0 do
    local place = math.fmod(pushed, ring)
    local run = math.min(fresh, ring - place)
    call_redis('SETRANGE', keys[k + 1], LOG_HEADER + place * 8, run == 1 and time or string.rep(time, run))
    pushed, fresh = pushed + run, fresh - run
  end
  call_redis('SETRANGE', keys[k + 1], 0, found[k + 1])
  if kept_until[k] then call_redis('EXPIRE', keys[k + 1], ttl_text(kept_until[k] - now)) end
  headers[k] = found[k + 1]
end

local function write_all()
  for i = 1, #changed do
    local k = changed[i]
    if not states or not states.has(k) then
      if k > values then write_log(k)
      elseif kept_until[k] then call_redis('SETEX', keys[k + 1], ttl_text(kept_until[k] - now), found[k + 1])
      else call_redis('SETRANGE', keys[k + 1], '0', found[k + 1]) end
    end
  end
  if states then states.write_all() end
end
