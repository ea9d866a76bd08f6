-- Of a call that only counts: of each decision how many charges it has, and for each the place of its key and the cost.
local charges
if not call then
  charges = args[4] and cjson.decode(args[4]) or {}
  for decision = 1, args[4] and 0 or plan[1][2] do
    charges[#charges + 1] = limits
    for n = 1, limits do
      charges[#charges + 1] = plan[n][6] + decision
      charges[#charges + 1] = 1
    end
  end
end
