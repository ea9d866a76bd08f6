-- For products that doubles do not hold exactly.

local EXACT = 2 ^ 53

-- School division with the digits of `a` in base 16: remainder * 16 + digit * b stays below 2^53.
local function long_division(a, b, d)
  local quotient, remainder, unit = 0, 0, 16 ^ 13
  while unit >= 1 do
    local part = remainder * 16 + math.fmod(math.floor(a / unit), 16) * b
    local step = math.floor(part / d)
    quotient = quotient * 16 + step
    remainder = part - step * d
    unit = unit / 16
  end
  return quotient, remainder
end
