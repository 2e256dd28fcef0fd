local count = {}

function count.of(text)
  local words, lines = 0, 0
  for _ in string.gmatch(text, "%S+") do words = words + 1 end
  for _ in string.gmatch(text, "\n") do lines = lines + 1 end
  if text ~= "" and string.sub(text, -1) ~= "\n" then lines = lines + 1 end
  return { words = words, lines = lines, bytes = #text }
end

return count
