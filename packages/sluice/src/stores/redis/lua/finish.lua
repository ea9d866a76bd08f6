-- How a call ends: all states are written by now, and `answer` holds the bytes of the reply.

if now - latest >= CLOCK_TICKS then call_redis('SETEX', keys[1], '86400', pack('<d', now)) end
if records then call_redis('SETEX', record, args[2], answer) end
return answer
