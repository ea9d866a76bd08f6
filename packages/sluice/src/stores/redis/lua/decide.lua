-- Does a batch, one thing after another: decisions, each over one or several limits, all of its charges or none of them; and
-- changes that no limit can refuse.
--
-- KEYS, ARGV  see entry.lua and batch.lua
-- call.runs   a list; each entry is either
--               [s, k, k, …]   plain decisions: spec s (from 1) charged 1 at each key k in turn, or
--               [0, take, hold_ticks, book_ticks, strikes, k, s, cost, role, id, phase, k, s, cost, role, id, phase, …]
--             or a change, which starts with a word: see amend.lua.
--             take, strikes: 1 or 0. hold_ticks > 0 reserves, book_ticks >= 0 books. role: -2 enforced, -1 shadow, else
--             shadow in place of the charge of that index (from 0). id: of the slot or reservation it would be. phase:
--             of windows that start by their key. k below 0: the logs.
-- Reply       now, then for each change three numbers, of which the first is its answer, and for each charge: used (in units), ticks from now until it is reset, and
--             ticks until it passes * 4 + 1 if allowed + 2 if blocked. Below 0: -1 never, -2 never and blocked, -3 the
--             value is foreign. Then, for the few that need it: number of the charge (from 0), what (1 resets, 2 held), value.

local in_full, amend

local function decide_in_full(run)
  if not in_full then in_full = full_decisions() end
  in_full(run)
end

local function keep(k, value, until_tick)
  if kept_until[k] == nil then changed[#changed + 1] = k end
  found[k + 1] = value
  kept_until[k] = until_tick or kept_until[k] or false
end

local function refusal(retry)
  return retry == NEVER and -1 or (retry - now) * 4
end

-- One limit, cost 1, enforced, nothing held or booked: nearly all there is.
local function decide_run(run)
  local s = run[1]
  local spec = specs[s]
  local plainly = plain[spec.kind]
  for i = 2, #run do
    local k = run[i]
    if k < 0 then k = values - k end
    local retry, used, reset_at, value, used_after, reset_after, until_tick
    if plainly and value_at(k) ~= nil and not (states and states.has(k)) then
      retry, used, reset_at, value, used_after, reset_after, until_tick = plainly(found[k + 1], spec, now, 1, 0, k)
    end
    if retry == 0 then
      keep(k, value, until_tick)
      tell(used_after, reset_after, 1)
    elseif retry and not spec.block then
      tell(used, reset_at, refusal(retry))
    else
      decide_in_full({ 0, 1, 0, -1, 1, k, s, 1, ENFORCED, 0, 0 })
    end
  end
end

-- Several limits whose states are plain: judged one by one, and what each would become is kept only if all pass. Tables
-- are made once for all decisions. False where it takes more than that.
local retries, useds, resets, afters, used_afters, reset_afters, until_ticks

local function decide_plainly(run)
  local takes, refused, n = run[2] == 1, 0, 0
  if not retries then
    retries, useds, resets, afters, used_afters, reset_afters, until_ticks = {}, {}, {}, {}, {}, {}, {}
  end
  if run[3] ~= 0 or run[4] >= 0 then return false end
  for at = 6, #run, 6 do
    local k, spec, role = run[at], specs[run[at + 1]], run[at + 3]
    local plainly = plain[spec.kind]
    if k < 0 then k = values - k end
    if not plainly or role >= 0 or value_at(k) == nil or (states and states.has(k)) then return false end
    n = n + 1
    retries[n], useds[n], resets[n], afters[n], used_afters[n], reset_afters[n], until_ticks[n] =
      plainly(found[k + 1], spec, now, run[at + 2], run[at + 5], k, true)
    if not retries[n] or (retries[n] ~= 0 and spec.block) then return false end
    if retries[n] ~= 0 and role == ENFORCED then refused = refused + 1 end
  end
  for i = 1, n do
    local at = i * 6
    local passes = retries[i] == 0
    if takes and refused == 0 and passes and run[at + 2] > 0 then
      keep(run[at] < 0 and values - run[at] or run[at], afters[i], until_ticks[i])
      tell(used_afters[i], reset_afters[i], 1)
    else
      tell(useds[i], resets[i], passes and 1 or refusal(retries[i]))
    end
  end
  return true
end

for _, run in ipairs(call.runs) do
  if type(run[1]) == 'string' then
    if not amend then amend = amendments() end
    tell(amend(run), now, 0)
  elseif run[1] ~= 0 then decide_run(run)
  elseif not decide_plainly(run) then decide_in_full(run) end
end

local at = #reply
for i = 1, #rare do reply[at + i] = rare[i] end
return answer(pack_all(reply))
