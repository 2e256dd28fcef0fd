-- Lists and opens issues of GitHub, with a token that this script never sees: the host puts it on the request. For a tracker that speaks the
-- same API, such as a Gitea of your own (`/api/v1`), put its address here and its host into the manifest, twice.

local json = require("json")

local TRACKER = "https://api.github.com"
local MOST = 20

local function ask(method, path, body)
  local answer = svc.host.network_request {
    operation = "fetch",
    input = {
      url = TRACKER .. path,
      method = method,
      headers = { accept = "application/json", ["content-type"] = "application/json" },
      credential = { alias = "token" },
      body = body and json.encode(body),
    },
  }.output
  local text = answer.body or ""
  if answer.status >= 400 then
    local ok, told = pcall(json.decode, text)
    error(string.format("the tracker answered %d: %s", answer.status, ok and type(told) == "table" and told.message or "no reason was given"), 0)
  end
  if answer.truncated then error("the tracker answered more than can be read; ask for fewer issues", 0) end
  return json.decode(text)
end

-- A repository stands in an address: nothing but its two names may get there.
local function repository(name)
  if not string.find(name, "^[%w_.-]+/[%w_.-]+$") or string.find(name, "..", 1, true) then
    error("a repository is written owner/name", 0)
  end
  return "/repos/" .. name .. "/issues"
end

local function list(call)
  local state = call.input.state or "open"
  local path = string.format("%s?state=%s&per_page=%d", repository(call.input.repository), state, MOST)
  local lines = {}
  for _, issue in ipairs(ask("GET", path)) do
    lines[#lines + 1] = string.format("#%d %s (%s)", issue.number, issue.title, issue.state)
  end
  local output = #lines == 0 and "There are none." or table.concat(lines, "\n")
  return { title = state .. " issues of " .. call.input.repository, output = output, metadata = { issues = #lines } }
end

local function open(call)
  local issue = ask("POST", repository(call.input.repository), { title = call.input.title, body = call.input.text or "" })
  return { title = "issue #" .. issue.number, output = string.format("Opened #%d: %s", issue.number, issue.html_url) }
end

local REPOSITORY = { type = "string", description = "owner/name" }

return {
  name = "Issue tracker",
  version = "1.0.0",
  tools = {
    {
      id = "list_issues",
      description = "Lists the newest issues of a repository: number, title and state of each.",
      parameters = {
        type = "object",
        properties = { repository = REPOSITORY, state = { type = "string", enum = { "open", "closed", "all" } } },
        required = { "repository" },
      },
      execute = list,
    },
    {
      id = "open_issue",
      description = "Opens an issue in a repository. Use it only when you are asked to.",
      parameters = {
        type = "object",
        properties = { repository = REPOSITORY, title = { type = "string" }, text = { type = "string", description = "Markdown" } },
        required = { "repository", "title" },
      },
      execute = open,
    },
  },
}
