-- Does a batch, one thing after another: decisions, each over one or several limits, all of its charges or none of them; and
-- changes that no limit can refuse.
--
-- KEYS, ARGV  see entry.lua and batch.lua
-- call.runs   a list; each entry is either
--               [n, s, …, k, …]   plain decisions over n limits: the specs s (from 1) of these, then n keys k for each
--                                 decision, each charged 1 and enforced, or
--               [0, take, hold_ticks, book_ticks, strikes, k, s, cost, role, id, phase, k, s, cost, role, id, phase, …]
--             or a change, which starts with a word: see amend.lua.
--             take, strikes: 1 or 0. hold_ticks > 0 reserves, book_ticks >= 0 books. role: -2 enforced, -1 shadow, else
--             shadow in place of the charge of that index (from 0). id: of the slot or reservation it would be. phase:
--             of windows that start by their key. k below 0: the logs.
-- Reply       now, then for each change three numbers, the first being its answer, and for each charge three, too: used (in
--             units), ticks from now until it is reset, and ticks until it passes * 4 + 1 if allowed + 2 if blocked. Below 0: -1 never, -2 never and blocked, -3 the
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
  local s = run[2]
  local spec = specs[s]
  local plainly = plain[spec.kind]
  for i = 3, #run do
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
-- are made once for all decisions.
local ks, costs, retries, useds, resets, afters, used_afters, reset_afters, until_ticks

-- Judges the i-th charge of a decision: retry, or nothing where it takes more than that.
local function judge_plainly(i, k, spec, cost, phase)
  local plainly = plain[spec.kind]
  if k < 0 then k = values - k end
  if not plainly or value_at(k) == nil or (states and states.has(k)) then return nil end
  if not retries then
    ks, costs, retries, useds, resets, afters, used_afters, reset_afters, until_ticks = {}, {}, {}, {}, {}, {}, {}, {}, {}
  end
  ks[i], costs[i] = k, cost
  retries[i], useds[i], resets[i], afters[i], used_afters[i], reset_afters[i], until_ticks[i] =
    plainly(found[k + 1], spec, now, cost, phase, k, true)
  if retries[i] == 0 or not spec.block then return retries[i] end
end

-- Of a decision of n charges that all are judged, takes all if it may.
local function conclude_plainly(n, takes)
  for i = 1, n do
    local passes = retries[i] == 0
    if takes and passes and costs[i] > 0 then
      keep(ks[i], afters[i], until_ticks[i])
      tell(used_afters[i], reset_afters[i], 1)
    else
      tell(useds[i], resets[i], passes and 1 or refusal(retries[i]))
    end
  end
end

-- False where it takes more than that.
local function decide_plainly(run)
  if run[3] ~= 0 or run[4] >= 0 then return false end
  local takes, n = run[2] == 1, 0
  for at = 6, #run, 6 do
    local role = run[at + 3]
    if role >= 0 then return false end
    n = n + 1
    local retry = judge_plainly(n, run[at], specs[run[at + 1]], run[at + 2], run[at + 5])
    if not retry then return false end
    if retry ~= 0 and role == ENFORCED then takes = false end
  end
  conclude_plainly(n, takes)
  return true
end

local function in_full_of(run, at)
  local full = { 0, 1, 0, -1, 1 }
  for j = 1, run[1] do
    local charge = { run[at + j - 1], run[j + 1], 1, ENFORCED, 0, 0 }
    for i = 1, 6 do full[#full + 1] = charge[i] end
  end
  return full
end

-- The same over several limits.
local function decide_several(run)
  local n = run[1]
  for at = n + 2, #run, n do
    local takes, is_plain = true, true
    for j = 1, n do
      local retry = is_plain and judge_plainly(j, run[at + j - 1], specs[run[j + 1]], 1, 0)
      if not retry then is_plain = false
      elseif retry ~= 0 then takes = false end
    end
    if is_plain then conclude_plainly(n, takes) else decide_in_full(in_full_of(run, at)) end
  end
end

for _, run in ipairs(call.runs) do
  if type(run[1]) == 'string' then
    if not amend then amend = amendments() end
    tell(amend(run), now, 0)
  elseif run[1] == 1 then decide_run(run)
  elseif run[1] > 1 then decide_several(run)
  elseif not decide_plainly(run) then decide_in_full(run) end
end

local at = #reply
for i = 1, #rare do reply[at + i] = rare[i] end
write_all()
local answer = pack_all(reply)
