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
