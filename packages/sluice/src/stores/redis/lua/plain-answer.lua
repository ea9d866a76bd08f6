-- The verdict on one charge needs no table. (Lua can hand on about 8,000 values: a call is never that large.)
local answer = reply and pack('<' .. string.rep('d', at), unpack(reply)) or pack('<dddd', now, used, ticks, code)
