-- Time never runs backwards, and a call that comes too late is not done.
--
-- The clock's value is the latest time seen. If the server's clock is set back a little, time stands still until the
-- clock has caught up. If it is set back far, the value carries a second number: how far time is ahead of the server
-- from then on. So time goes on, and no caller is locked out for as long as the clock was wrong. The call that finds
-- this out does nothing else: its client is told, and asks again.

local SET_BACK, SET_BACK_TICKS = -4, 1000000

local latest, ahead = 0, 0
if clock then
  if #clock == 16 then
    latest, ahead = unpack_bytes('<dd', clock)
    now = now + ahead
  elseif #clock == 8 then latest = unpack_bytes('<d', clock)
  else return redis.error_reply('FOREIGN value at ' .. keys[1]) end
  local back = latest - now
  if back > SET_BACK_TICKS then
    call_redis('SETEX', keys[1], AHEAD_SECONDS, pack('<dd', latest, ahead + back))
    return pack('<dd', SET_BACK, back)
  end
  if back > 0 then now = latest end
end
if now > valid_until then return pack('<dd', LATE, now) end
