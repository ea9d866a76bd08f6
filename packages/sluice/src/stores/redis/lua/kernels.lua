-- What every kernel below offers. A state is a table of its own making, read from the bytes of a key.
--
--   fresh(spec, now)                     the state of a key not seen yet
--   read(value, from, key, spec)         the state in `value` from byte `from` on; nil where the length is wrong
--   write(state, until_tick)             its bytes, for a key that is kept until that tick
--   letter                               what its values start with, so that none is taken for another's
--   span(spec)                           how many ticks a charge can count at most
--   locate(state, spec, now, phase)      brings it to now; the others below want that first
--   judge(state, spec, now, cost)        0 where `cost` fits, else the first tick at which it will, or NEVER
--   take(state, spec, now, cost, id)     counts `cost`, whether it fits or not
--   describe(state, spec, now)           used (in units), and the tick at which nothing is counted any more
--   refund(state, spec, now, cost, at, window_end)   takes back a charge made at tick `at`, by law 12
--   credit(state, spec, now, cost)       gives `cost` back, clamped at full
--   counted(state, spec)                 the requests counted now, rounded up
--   copy(state)                          one to try things out on
--   numbers(state)                       what inspecting shows of it
--   kept_until(state, spec, now)         the tick from which on a fresh state would do as well
--
-- Each kernel is a function that makes it, so that a call pays for those it needs.
--
-- Nearly all charges meet a value of nothing but counts. For these some kinds have a short way beside, straight from bytes
-- to bytes: plain(value, spec, now, cost, phase, k, looks), `value` false where there is none, answers
--   retry (as `judge`), used, reset_at (if it `looks`, or does not pass), and if it were taken: value, used, reset_at, and the tick until which the key must be
--   kept, if it is not yet; nothing where it will not do.

local kernels, plain = {}, {}
local NEVER = math.huge
