/** A package in Python: the plugin and the library beside it, nothing to install. Pure. */
import type { Scope } from '../plugin-arguments.js'
import type { Kind } from '../plugin-kinds.js'
import { codeOf, type Files, type Grammar, indented, manifestFile, type Names, namesOf, type Piece, tableOf, TEXTS } from './template.js'

/** `-B`: a package may not change, and Python would write `__pycache__` into it. */
export function pythonPackage(id: string, scope: Scope, kinds: readonly Kind[], library: { readonly python: string }): Files {
  const names = namesOf(id)
  const pieces = kinds.map((kind) => PIECES[kind](names))
  return {
    ...manifestFile(id, { runtime: 'process', command: ['python3', '-B', 'plugin.py'], scope }),
    'plugin.py': `"""${id}: a plugin for svc."""

from svc_plugin import ${kinds.includes('socket') ? 'Outbox, ' : ''}run_plugin


${codeOf(pieces)
  .replaceAll(/\n\n$/g, '\n\n\n')
  .replaceAll(/\n\n(?=def |#)/g, '\n\n\n')
  .replaceAll(/\n{4,}/g, '\n\n\n')}PLUGIN = {
    "name": "${names.short}",
    "version": "0.1.0",
${tableOf(pieces, GRAMMAR, '    ')}}

if __name__ == "__main__":
    run_plugin(PLUGIN)
`,
    'svc_plugin.py': library.python,
  }
}

const ONE = new Set(['events'])
const MAPS = new Set(['hooks'])

const GRAMMAR: Grammar = {
  group(name, entries, indent) {
    if (ONE.has(name)) return `${indent}"${name}": ${entries[0] ?? '{}'},\n`
    const [open, close] = MAPS.has(name) ? ['{', '}'] : ['[', ']']
    return `${indent}"${name}": ${open}\n${indented(entries.map((entry) => `${entry},\n`).join(''), `${indent}    `)}${indent}${close},\n`
  },
  services: (groups, indent) => `${indent}"services": {\n${groups.join('')}${indent}},\n`,
}

const PIECES: Readonly<Record<Kind, (names: Names) => Piece>> = {
  tool: ({ word }) => ({
    code: `def greet(input, context):
    name = input["name"]
    return {"title": f"${word} {name}", "output": f"Hello, {name}!"}`,
    group: 'tools',
    entry: `{
    "id": "${word}",
    "description": "${TEXTS.tool}",
    "parameters": {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "Who is greeted"}},
        "required": ["name"],
    },
    "execute": greet,
}`,
  }),
  hook: ({ word }) => ({
    code: `def environment(context, value, call):
    """What is answered takes the place of the value: here, the variables of a command."""
    return dict(value, ${word.toUpperCase()}="1")`,
    group: 'hooks',
    entry: '"shell.env": environment',
  }),
  event: () => ({
    code: `def heard(event, call):
    print("heard", event["type"])`,
    group: 'events',
    entry: '{"namespaces": ["session."], "handler": heard}',
  }),
  command: ({ short }) => ({
    code: `def commands(request, call):
    return [{"name": "${short}", "description": "${TEXTS.command}", "template": "${TEXTS.template}"}]`,
    group: 'services.commands',
    entry: `{"id": "${short}-commands", "handler": commands}`,
  }),
  agent: ({ short }) => ({
    code: `def agents(request, call):
    agent = {
        "name": "${short}",
        "mode": "subagent",
        "description": "${TEXTS.agent}",
        "prompt": "${TEXTS.prompt}",
        "permission": {"edit": "deny", "bash": "deny"},
    }
    return {"agents": [agent], "defaultAgent": None}`,
    group: 'services.agents',
    entry: `{"id": "${short}-agents", "handler": agents}`,
  }),
  context: ({ short }) => ({
    code: `def sections(request, call):
    return [{"id": "${short}", "title": "${short}", "content": "${TEXTS.context}"}]`,
    group: 'services.systemContext',
    entry: `{"id": "${short}-context", "handler": sections}`,
  }),
  route: ({ id, short }) => ({
    code: `def status(request, call):
    """GET /v2/plugins/${id}/status"""
    return {"status": 200, "body": {"ok": True, "workspace": request["workspace"]}}`,
    group: 'routes',
    entry: `{"descriptor": {"id": "${short}-status", "method": "GET", "path": "/status", "scope": "workspace"}, "handle": status}`,
  }),
  socket: ({ short }) => ({
    code: `def echo(request, call):
    outbox = Outbox()
    outbox.text("ready")

    def message(message):
        if message["kind"] == "text":
            outbox.send(message)
        if message["kind"] == "close":
            outbox.close()

    return {"outbound": outbox, "message": message}`,
    group: 'websocketRoutes',
    entry: `{"descriptor": {"id": "${short}-echo", "method": "GET", "path": "/echo", "scope": "workspace"}, "open": echo}`,
  }),
  provider: ({ short }) => ({
    code: `def stream(request, call):
    """A model that says the last message again."""
    yield {"type": "text-start", "id": "1"}
    yield {"type": "text-delta", "id": "1", "delta": request["messages"][-1]["content"]}
    yield {"type": "text-end", "id": "1"}
    yield {"type": "finish", "finish": "stop", "inputTokens": 0, "outputTokens": 0}`,
    group: 'services.providers',
    entry: `{"descriptor": {"id": "${short}", "name": "${short}", "models": ["echo"]}, "stream": stream}`,
  }),
}
