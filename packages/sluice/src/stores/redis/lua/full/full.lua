-- Everything else: changes, blocks, reservations, bookings, shadows, slots, and values with any of these.

local specs, items = {}, {}
if call then
  specs, items = call.specs, call.items
else
  -- The call was in the short form, but a value holds more than a count.
  found = call_redis('MGET', unpack(keys, 1, values))
  local limit_of = {}
  for n = 1, limits do
    specs[n] = spec_of(plan[n])
    for k = plan[n][6] + 1, plan[n][6] + plan[n][2] do limit_of[k] = n end
  end
  local at = 1
  while at < #charges do
    local item, last_place = { 1, 0, -1, 1 }, at + 2 * charges[at]
    for i = at + 1, last_place, 2 do
      for _, number in ipairs({ charges[i], limit_of[charges[i]], charges[i + 1], ENFORCED, 0, 0 }) do
        item[#item + 1] = number
      end
    end
    items[#items + 1] = item
    at = last_place + 1
  end
end

-- Redis reads a value of a foreign type as missing, and would overwrite it. Foreign values are nil from here on.
do
  local absent = {}
  for k = 1, values do
    if not found[k] then absent[#absent + 1] = keys[k] end
  end
  if absent[1] and call_redis('EXISTS', unpack(absent)) > 0 then
    if not found[1] and call_redis('EXISTS', keys[1]) == 1 then return redis.error_reply('FOREIGN value at ' .. keys[1]) end
    for k = 2, values do
      if not found[k] and call_redis('EXISTS', keys[k]) == 1 then found[k] = nil end
    end
  end
end

local reply, told, rare = { now }, 0, {}

local function tell(used, reset_at, code)
  local at = told * 3
  told = told + 1
  reply[at + 2], reply[at + 3], reply[at + 4] = used, reset_at - now, code
end

-- Details of the next charge in the reply.
local function tell_rare(what, value)
  local at = #rare
  rare[at + 1], rare[at + 2], rare[at + 3] = told, what, value
end

-- @include full/extras
-- @include full/states
-- @include full/decisions
-- @include full/changes
-- @include full/inspect

if call and call.inspect then return inspect(call.inspect) end
for _, item in ipairs(items) do
  if type(item[1]) == 'string' then tell(change(item), now, 0) else decide(item) end
end
local at = #reply
for i = 1, #rare do reply[at + i] = rare[i] end
states.write_all()
return pack_all(reply)
