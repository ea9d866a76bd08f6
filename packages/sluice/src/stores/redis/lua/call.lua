-- The call of decide.lua and inspect.lua.
--
-- ARGV[2]    as JSON: { logs, specs, … }: how many of the keys are logs, and the numbers of each limit by name

local call = cjson.decode(args[2])
local logs, specs = call.logs, call.specs
