-- Ends a call: all states are written, and `answer` holds the bytes of the reply.

-- For a call that is never too late.
local LONGEST_RESEND_SECONDS = 60

if now - latest >= CLOCK_TICKS then
  if ahead == 0 then call_redis('SETEX', keys[1], '86400', pack('<d', now))
  else call_redis('SETEX', keys[1], AHEAD_SECONDS, pack('<dd', now, ahead)) end
end
if record then
  local seconds = math.min(math.ceil((valid_until - now) / 1000000) + 1, LONGEST_RESEND_SECONDS)
  call_redis('SETEX', record, string.format('%.0f', seconds), answer)
end
return answer
