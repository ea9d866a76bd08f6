-- The reply of decide.lua, charge by charge; the codes are explained there.

local ENFORCED = -2
local reply, told, rare = { pack('<d', now) }, 1, {}

local function tell(used, reset_at, code)
  told = told + 1
  reply[told] = pack('<ddd', used, reset_at - now, code)
end

-- About the charge to be told next.
local function tell_rare(what, value)
  rare[#rare + 1] = pack('<ddd', told - 1, what, value)
end
