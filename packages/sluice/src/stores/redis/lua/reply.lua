-- The reply of decide.lua, charge by charge; the codes are explained there.

local ENFORCED = -2
local reply, told, rare = { now }, 0, {}

local function tell(used, reset_at, code)
  local at = told * 3
  told = told + 1
  reply[at + 2], reply[at + 3], reply[at + 4] = used, reset_at - now, code
end

-- About the charge to be told next.
local function tell_rare(what, value)
  local at = #rare
  rare[at + 1], rare[at + 2], rare[at + 3] = told, what, value
end

-- Numbers to bytes, all at once: one by one takes as long as deciding. Lua can hand on about 8,000 values.
local function pack_all(numbers)
  local count = #numbers
  if count <= 4000 then return pack('<' .. string.rep('d', count), unpack(numbers)) end
  local parts = {}
  for from = 1, count, 4000 do
    local to = math.min(from + 3999, count)
    parts[#parts + 1] = pack('<' .. string.rep('d', to - from + 1), unpack(numbers, from, to))
  end
  return table.concat(parts)
end
