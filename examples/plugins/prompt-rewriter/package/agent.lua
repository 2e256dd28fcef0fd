-- Writes out what you abbreviate: `!brief` at the end of a prompt becomes a sentence. What is stored stays as you wrote it; the model alone
-- is shown the rest. It answers the same for the same messages, so that a provider can go on from what it has cached.

local ABBREVIATIONS = {
  brief = "Answer in three sentences at most.",
  plan = "Do not change anything yet: say what you would do, step by step, and wait.",
  review = "Look for bugs only: say where each is, why it is one, and how it shows.",
  tests = "Begin with a test that fails, and end when it passes.",
}

local function written_out(word)
  return ABBREVIATIONS[word]
end

local function rewrite(call)
  for _, message in ipairs(call.value) do
    if message.role == "user" then
      message.content = string.gsub(message.content, "!(%l+)", written_out)
    end
  end
  return call.value
end

return {
  name = "Prompt rewriter",
  version = "1.0.0",
  hooks = { ["chat.messages"] = rewrite },
}
