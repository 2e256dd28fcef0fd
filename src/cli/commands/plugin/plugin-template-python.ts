/** A package in Python: one file that needs the standard library only. */
import type { Scope } from './plugin-arguments.js'
import { manifestFile, shortName, TOOL_DESCRIPTION, toolName } from './plugin-template.js'

/** `-B`: a package may not change, and Python would write `__pycache__` into it. */
export function pythonPackage(id: string, scope: Scope): Readonly<Record<string, string>> {
  return {
    ...manifestFile(id, { runtime: 'process', command: ['python3', '-B', 'plugin.py'], scope }),
    'plugin.py': `"""${id}: a plugin for svc."""


def greet(input, call):
    name = input["name"]
    return {"title": f"${toolName(id)} {name}", "output": f"Hello, {name}!"}


PLUGIN = {
    "name": "${shortName(id)}",
    "version": "0.1.0",
    "tools": [
        {
            "id": "${toolName(id)}",
            "description": "${TOOL_DESCRIPTION}",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string", "description": "Who is greeted"}},
                "required": ["name"],
            },
            "execute": greet,
        }
    ],
    "hooks": {},  # "shell.env": function(context, value), answers the new value
    "events": {"namespaces": [], "handler": None},  # handler(event)
    "services": {},  # "commands": [{"id": "mine", "handler": function(request)}], answers a list of commands
}
${PROTOCOL_LOOP}`,
  }
}

/** Speaks `svc-plugin/2` for the `PLUGIN` above it. */
const PROTOCOL_LOOP = String.raw`

# --- The protocol svc-plugin/2: one JSON object per line on standard input and output. Nothing to change below. ---

import itertools
import json
import os
import queue
import sys
import threading
import traceback

FRAME_BYTES = 1048576
_out = os.fdopen(os.dup(1), "w", encoding="ascii", newline="\n")
os.dup2(2, 1)  # whatever else is printed goes to standard error, where svc logs it
_sending = threading.Lock()
_ids = itertools.count(1)
_asked = {}  # id of a request to the host -> queue that gets its answer
_calls = {}  # id of a call of the host -> event that is set when it is cancelled
_owner = None


SERVICES = {
    "agent.list": "agents",
    "command.list": "commands",
    "skill.list": "skills",
    "systemContext.sections": "systemContext",
    "prompt.render": "prompts",
    "config.load": "config",
}


class Call:
    """What a tool gets besides its input."""

    def __init__(self, params, cancelled):
        self.directory = params.get("directory")
        self.session_id = params.get("sessionId")
        self.cancelled = cancelled  # threading.Event


def host(method, params, timeout=30):
    """Asks the host, such as host("host.config.get", {"key": "theme"}); raises what it answers with an error."""
    id, answer = next(_ids), queue.Queue(1)
    _asked[id] = answer
    try:
        _send({"id": id, "method": method, "params": params, "owner": _owner})
        reply = answer.get(timeout=timeout)
    except queue.Empty:
        raise TimeoutError(f"{method} was not answered within {timeout} s") from None
    finally:
        _asked.pop(id, None)
    if reply.get("error") is not None:
        raise RuntimeError(reply["error"])
    return reply.get("result")


def _send(frame):
    line = json.dumps(frame, separators=(",", ":"), allow_nan=False) + "\n"
    if len(line) > FRAME_BYTES:
        raise ValueError(f"a frame may have at most {FRAME_BYTES} bytes")
    with _sending:
        _out.write(line)
        _out.flush()


def _initialize(params):
    global _owner
    if params["protocol"] != "svc-plugin/2":
        raise ValueError(f"this plugin speaks svc-plugin/2, not {params['protocol']}")
    _owner = params.get("owner") or {"pluginId": params["pluginId"], "instanceId": params["instanceId"]}
    tools = [{key: value for key, value in tool.items() if key != "execute"} for tool in PLUGIN.get("tools", [])]
    return {
        "protocol": "svc-plugin/2",
        "name": PLUGIN["name"],
        "version": PLUGIN["version"],
        "tools": tools,
        "hooks": list(PLUGIN.get("hooks", {})),
        "eventNamespaces": PLUGIN.get("events", {}).get("namespaces", []),
        "services": {kind: [_declared(service) for service in services] for kind, services in PLUGIN.get("services", {}).items()},
    }


def _declared(service):
    return {"id": service["id"], "priority": service.get("priority", 0)}


def _serve(kind, params):
    for service in PLUGIN.get("services", {}).get(kind, []):
        if service["id"] == params["serviceId"]:
            return service["handler"](params.get("request") or {})
    raise LookupError(f"unknown {kind} service {params['serviceId']}")


def _perform(method, params, cancelled):
    if method == "initialize":
        return _initialize(params)
    if method == "tool.invoke":
        for tool in PLUGIN.get("tools", []):
            if tool["id"] == params["tool"]:
                answer = tool["execute"](params.get("input"), Call(params, cancelled))
                return {"output": answer} if isinstance(answer, str) else answer
        raise LookupError(f"unknown tool {params['tool']}")
    if method == "hook.invoke":
        hook = PLUGIN.get("hooks", {}).get(params["hook"])
        return params["value"] if hook is None else hook(params["context"], params["value"])
    if method in SERVICES:
        return _serve(SERVICES[method], params)
    raise LookupError(f"unknown method {method}")


def _answer(id, method, params):
    cancelled = _calls[id]
    try:
        try:
            reply = {"id": id, "result": _perform(method, params, cancelled)}
        finally:
            _calls.pop(id, None)
        _send(reply)
    except Exception as error:
        named = params.get("tool") or params.get("hook") or ""
        print(f"{method} {named} failed: {traceback.format_exc()}", file=sys.stderr, flush=True)
        _send({"id": id, "error": f"{type(error).__name__}: {error}"[:10000]})


def _handle(event):
    handler = PLUGIN.get("events", {}).get("handler")
    try:
        if handler is not None:
            handler(event)
    except Exception as error:
        print(f"the handler of {event.get('type')} failed: {traceback.format_exc()}", file=sys.stderr, flush=True)


def _events(waiting):
    while True:
        _handle(waiting.get())


def run():
    events = queue.Queue(256)
    threading.Thread(target=_events, args=(events,), daemon=True).start()
    for line in sys.stdin.buffer:
        try:
            frame = json.loads(line)
            id, method, params = frame.get("id"), frame.get("method"), frame.get("params") or {}
        except (ValueError, AttributeError):
            continue
        if method is None:
            answer = _asked.pop(id, None)
            if answer is not None:
                answer.put(frame)
        elif method == "$/cancel":
            if params.get("id") in _calls:
                _calls[params["id"]].set()
        elif method == "shutdown":
            if id is not None:
                _send({"id": id, "result": {}})
            return
        elif method == "event":
            try:
                events.put_nowait(params)
            except queue.Full:
                print(f"the event {params.get('type')} was dropped: too many wait", file=sys.stderr)
        elif id is not None:
            _calls[id] = threading.Event()
            threading.Thread(target=_answer, args=(id, method, params), daemon=True).start()


if __name__ == "__main__":
    run()
    os._exit(0)
`
