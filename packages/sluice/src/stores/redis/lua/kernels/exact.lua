-- Twin of algorithms/exact.ts: whole-number arithmetic that stays exact in doubles.

local EXACT = 2 ^ 53

-- School division of a * b by d, with the digits of `a` in base 16: remainder * 16 + digit * b stays below 2^53.
local function long_division(a, b, d)
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

-- floor(a * b / d) for whole a < 2^53 and b <= d <= 2^48.
local function mul_div_floor(a, b, d)
  if a * b < EXACT then return floor(a * b / d) end
  return (long_division(a, b, d))
end

-- ceil(a * b / d), on the same terms.
local function mul_div_ceil(a, b, d)
  if a * b < EXACT then return ceil(a * b / d) end
  local quotient, remainder = long_division(a, b, d)
  return remainder > 0 and quotient + 1 or quotient
end
