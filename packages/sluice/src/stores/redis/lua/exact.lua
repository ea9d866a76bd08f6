-- Twin of algorithms/exact.ts: whole-number arithmetic that stays exact in doubles.

-- floor(a * b / d) for whole a < 2^53 and b <= d <= 2^48.
local function mul_div_floor(a, b, d)
  if a * b < EXACT then return math.floor(a * b / d) end
  return (long_division(a, b, d))
end

-- ceil(a * b / d), on the same terms.
local function mul_div_ceil(a, b, d)
  if a * b < EXACT then return math.ceil(a * b / d) end
  local quotient, remainder = long_division(a, b, d)
  return remainder > 0 and quotient + 1 or quotient
end
