-- Ticks to whole seconds, rounded up, as text: a number would be written with too few digits, and more slowly. Few
-- different ones are needed in a call, so each is made once.
local ttl_texts
local function ttl_text(ticks)
  local seconds = math.max(0, math.ceil(ticks / 1000000)) + SPARE_SECONDS
  if not ttl_texts then ttl_texts = {} end
  local text = ttl_texts[seconds]
  if not text then
    text = string.format('%.0f', seconds)
    ttl_texts[seconds] = text
  end
  return text
end
