-- What the loop of each kind says of a charge: see decide.lua. All of them are collected in `reply`, unless it is only one.
local used, ticks, code
local reply, at = (last > 2 or counts) and { now }, 1
