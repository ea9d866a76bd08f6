-- Twin of algorithms/exact.ts: whole-number arithmetic that stays exact in doubles.

local EXACT = 2 ^ 53

-- floor(a * b / d) and the remainder, for whole a < 2^53 and b <= d <= 2^48. School division with the digits of `a` in
-- base 16: remainder * 16 + digit * b stays below 2^53.
local function mul_div(a, b, d)
  local quotient, remainder, unit = 0, 0, 16 ^ 13
  while unit >= 1 do
    local part = remainder * 16 + fmod(floor(a / unit), 16) * b
    local step = floor(part / d)
    quotient = quotient * 16 + step
    remainder = part - step * d
    unit = unit / 16
  end
  return quotient, remainder
end
