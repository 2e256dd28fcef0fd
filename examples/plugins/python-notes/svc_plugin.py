"""svc_plugin: the library for svc plugins in Python. One file, Python 3.8 or newer, nothing to install. Copy it, do not edit it.

A plugin is a dict, with the keys that the library for Node has:

    from svc_plugin import run_plugin

    def greet(input, context):
        return {"title": "hello", "output": "Hello, " + input["name"] + "!"}

    PLUGIN = {
        "name": "hello",
        "tools": [{"id": "hello", "description": "Greets.", "parameters": {"type": "object"}, "execute": greet}],
    }

    if __name__ == "__main__":
        run_plugin(PLUGIN)

| key | value |
|---|---|
| name, version | for people |
| tools | list of {id, description, parameters, outputSchema?, permission?, execute(input, context)} |
| hooks | dict of hook name to function(context, value, call) that answers the new value |
| events | {namespaces: [prefix, ...], handler(event, call)} |
| services | {agents, commands, skills, systemContext, prompts, config: [{id, priority?, handler(request, call)}], providers: [provider]} |
| routes | list of {descriptor, priority?, handle(request, call)} |
| websocketRoutes | list of {descriptor, priority?, open(request, call)}; open answers {outbound, message?, close?} |
| messageParts, mcp, problems | as the protocol has them |
| initialize | function(context), called once before anything is offered |

A provider is {descriptor, priority?, stream(request, call), metadata?, auth?, route?, media?}. Every call runs in a thread of its own, so
what several of them share needs a lock. `print` writes to the log of svc, never into the protocol.
"""

import base64
import itertools
import json
import os
import queue
import sys
import threading
import traceback
import urllib.request

__all__ = ["run_plugin", "create_test_host", "Host", "Call", "ToolCall", "Outbox", "HostError", "Cancelled"]

PROTOCOL = "svc-plugin/2"
FRAME_BYTES = 1048576
PENDING_CALLS = 128
EVENT_QUEUE = 256
STREAM_QUEUE = 64
STREAM_ITEM_BYTES = 262144
STREAM_BYTES = 16777216
ERROR_TEXT = 10000

_SERVICES = {
    "agent.list": "agents",
    "command.list": "commands",
    "skill.list": "skills",
    "systemContext.sections": "systemContext",
    "prompt.render": "prompts",
    "config.load": "config",
}


class HostError(RuntimeError):
    """What the host has refused, in its words."""


class Cancelled(RuntimeError):
    """Nobody waits for the answer any more."""


class Call:
    """What every callback gets besides its input."""

    def __init__(self, host, cancelled):
        self.host = host
        self.cancelled = cancelled
        """`threading.Event`, set when the caller no longer wants the answer, and at the end."""

    def check(self):
        """Raises `Cancelled` when nobody waits any more."""
        if self.cancelled.is_set():
            raise Cancelled("the call was cancelled")


class ToolCall(Call):
    """What a tool gets besides its input."""

    def __init__(self, host, cancelled, params, client, progress):
        super().__init__(host, cancelled)
        self.directory = params.get("directory")
        """Directory of the session that calls."""
        self.session_id = params.get("sessionId")
        self.message_id = params.get("messageId")
        self.call_id = params.get("callId")
        self.client = client
        self._progress = progress

    def progress(self, metadata):
        """Shows people how far it is: a dict that is merged into the metadata of the call while it runs."""
        self._progress(metadata)


class Client:
    """The HTTP API of the server, without credentials; there only when the server says where it is."""

    def __init__(self, url):
        self.url = url

    def fetch(self, path, data=None, headers=None, method=None, timeout=30):
        """Answers what `urllib.request.urlopen` answers."""
        request = urllib.request.Request(self.url.rstrip("/") + path, data=data, headers=headers or {}, method=method)
        return urllib.request.urlopen(request, timeout=timeout)


class Outbox:
    """Messages for the client of a socket: an iterable that ends with `close`. Give it as `outbound` of what `open` answers."""

    def __init__(self):
        self._waiting = queue.Queue()

    def text(self, data):
        self.send({"kind": "text", "data": data})

    def send(self, message):
        self._waiting.put(message)

    def close(self):
        self._waiting.put(None)

    def __iter__(self):
        return iter(self._waiting.get, None)


# --- What a plugin may ask of the host. Made from the protocol by scripts/plugin-kits.mjs: begin ---


class _Config:
    def __init__(self, request):
        self._request = request

    def get(self, key, timeout=30):
        """Answers a value of the effective configuration by its dotted key, as it was when the plugin started; the empty key is all of it, and null is what is not set. Needs `config-read`."""
        return self._request("host.config.get", {"key": key}, timeout)

    def set(self, key, value, timeout=30):
        """Changes a setting of the plugin itself. Needs `config-write`."""
        self._request("host.config.set", {"key": key, "value": value}, timeout)


class _Workspace:
    def __init__(self, request):
        self._request = request

    def read(self, path, timeout=30):
        """Answers the bytes of a file of the workspace. Needs `workspace-read`."""
        return bytes(self._request("host.workspace.read", {"path": path}, timeout))

    def list(self, path, timeout=30):
        """Answers the names in a folder of the workspace, sorted. Needs `workspace-read`."""
        return list(self._request("host.workspace.list", {"path": path}, timeout) or [])

    def write(self, path, contents, timeout=30):
        """Writes a whole file of the workspace; its folder must be there. Needs `workspace-write`."""
        self._request("host.workspace.write", {"path": path, "contents": list(contents)}, timeout)


class _Events:
    def __init__(self, request):
        self._request = request

    def publish(self, namespace, name, payload=None, timeout=30):
        """Publishes the event plugin.<namespace>.<name>, in a namespace of the manifest. Needs `event-publish`."""
        self._request("host.event.publish", {"namespace": namespace, "name": name, "payload": payload}, timeout)


class _Network:
    def __init__(self, request):
        self._request = request

    def call(self, operation, input=None, timeout=30):
        """Asks the network. Needs `network`.

        - fetch {url, method?, headers?, redirects?, credential?, body?, bodyBase64?, maxBytes?}: Makes a whole request and answers what came back, as text, or as base64 where it is no text.
        - open {url, method?, headers?, redirects?, credential?, upload?}: Begins a request whose body is written, and whose answer is read, piece by piece.
        - write {opaqueId, text?, base64?, end?}: Adds a piece to the body, and ends it with `end`; answers when there is room for the next piece.
        - read {opaqueId}: Waits for the next piece of the answer; the first one comes with status and headers.
        - close {opaqueId}: Ends a request at once, whatever of it is still to come.
        """
        params = {"operation": operation} if input is None else {"operation": operation, "input": input}
        return (self._request("host.network.request", params, timeout) or {}).get("output")


class _Process:
    def __init__(self, request):
        self._request = request

    def call(self, operation, input=None, timeout=30):
        """Has the host run programs. Needs `process-spawn`.

        - spawn {command, cwd?, env?, stdin?, timeoutMs?, outputBytes?, sessionId?}: Starts a program in a process group of its own.
        - read {opaqueId, cursor?, maxBytes?, waitMs?}: Answers what was written since a place in the output, in the order of arrival.
        - write {opaqueId, text?, end?}: Writes to the input of a program.
        - wait {opaqueId, waitMs?}: Answers when a program has ended, or when the time is over.
        - signal {opaqueId, signal}: Sends a signal to the process group of a program.
        - list: Lists the programs of this instance that run, or can still be read.
        - close {opaqueId}: Ends a program that runs, and forgets it. `host.process.cancel` does the same.
        """
        params = {"operation": operation} if input is None else {"operation": operation, "input": input}
        return (self._request("host.process.spawn", params, timeout) or {}).get("output")

    def cancel(self, id, timeout=30):
        """Ends a program. Needs `process-spawn`."""
        self._request("host.process.cancel", {"opaqueId": id}, timeout)


class _Tasks:
    def __init__(self, request):
        self._request = request

    def call(self, operation, input=None, timeout=30):
        """Has the host give tasks to agents. Needs `task-spawn`.

        - spawn {agent?, description, prompt, timeoutMs?, sessionId?}: Delegates a task to an agent, below the session in whose tool call the plugin is.
        - status {opaqueId}: Answers how a task is by now.
        - wait {opaqueId, waitMs?}: Answers when a task has ended, or when the time is over.
        - list: Lists the tasks of this instance that run, or are remembered.
        """
        params = {"operation": operation} if input is None else {"operation": operation, "input": input}
        return (self._request("host.task.spawn", params, timeout) or {}).get("output")

    def cancel(self, id, timeout=30):
        """Stops a task. Needs `task-spawn`."""
        self._request("host.task.cancel", {"opaqueId": id}, timeout)


class _Secrets:
    def __init__(self, request):
        self._request = request

    def use(self, operation, input=None, timeout=30):
        """Has the host use a secret that the plugin does not see. Needs `secret-use`.

        - list: Names the secrets of the manifest, and whether each has a value.
        - sign {alias, algorithm?, text?, base64?, encoding?}: Answers the HMAC of a text or of bytes with the secret as its key.
        """
        params = {"operation": operation} if input is None else {"operation": operation, "input": input}
        return (self._request("host.secret.use", params, timeout) or {}).get("output")

    def read(self, operation, input=None, timeout=30):
        """Answers a secret. Needs `secret-read`.

        - get {alias}: Answers the value of a secret.
        """
        params = {"operation": operation} if input is None else {"operation": operation, "input": input}
        return (self._request("host.secret.read", params, timeout) or {}).get("output")


class _Prompts:
    def __init__(self, request):
        self._request = request

    def call(self, operation, input=None, timeout=30):
        """Reads prompts and instructions. Needs `prompt-read`.

        - current {sessionId?}: Answers the prompt that was admitted last.
        - list {sessionId?, cursor?, limit?}: Lists the prompts of a session, the latest first.
        - waiting {sessionId?}: Lists the prompts that wait in the queue of a session, the oldest first.
        - sessions {cursor?, limit?}: Lists the sessions whose prompts may be read, those that changed last first.
        """
        params = {"operation": operation} if input is None else {"operation": operation, "input": input}
        return (self._request("host.prompt.read", params, timeout) or {}).get("output")


class _Messages:
    def __init__(self, request):
        self._request = request

    def call(self, operation, input=None, timeout=30):
        """Reads messages of conversations. Needs `message-read`.

        - list {sessionId?, cursor?, limit?, order?}: Lists messages of a session, page by page.
        - get {messageId}: Answers one message.
        - sessions {sessionId?}: Lists a session and those below it.
        """
        params = {"operation": operation} if input is None else {"operation": operation, "input": input}
        return (self._request("host.message.read", params, timeout) or {}).get("output")


class _Responses:
    def __init__(self, request):
        self._request = request

    def call(self, operation, input=None, timeout=30):
        """Changes what a model has answered. Needs `response-transform`.

        - read {sessionId?}: Answers the text of the answer that is being recorded, as far as it has come.
        - replace {sessionId?, partId, length, text}: Puts another text in the place of what was read; what has come since stays behind it. Everybody sees it at once.
        """
        params = {"operation": operation} if input is None else {"operation": operation, "input": input}
        return (self._request("host.response.transform", params, timeout) or {}).get("output")


class _Providers:
    def __init__(self, request):
        self._request = request

    def call(self, operation, input=None, timeout=30):
        """Asks a model. Needs `provider-access`.

        - models {sessionId?}: Lists the models that may be used.
        - budget: Answers what of the budget of the package is used today.
        - complete {model?, system?, messages, maxOutputTokens?, temperature?, sessionId?}: Asks a model and answers its whole answer.
        - open {model?, system?, messages, maxOutputTokens?, temperature?, sessionId?}: Asks a model; its answer is read while it comes.
        - read {opaqueId, waitMs?}: Answers what a model has said since the last read.
        - close {opaqueId}: Ends a question, whatever of its answer is still to come.
        """
        params = {"operation": operation} if input is None else {"operation": operation, "input": input}
        return (self._request("host.provider.call", params, timeout) or {}).get("output")


class _Policy:
    def __init__(self, request):
        self._request = request

    def call(self, operation, input=None, timeout=30):
        """Has the host say what the rules allow, or ask the person. Needs `policy-invoke`.

        - evaluate {permission, patterns, sessionId?}: Answers what would be decided of each pattern, and by which rule; nobody is asked.
        - ask {permission, patterns, sessionId?, title}: Asks the person in the name of the plugin, unless the rules decide; the answer is read with `answer`.
        - answer {opaqueId, waitMs?}: Answers what became of a question.
        - withdraw {opaqueId}: Takes a question back.
        """
        params = {"operation": operation} if input is None else {"operation": operation, "input": input}
        return (self._request("host.policy.call", params, timeout) or {}).get("output")


class Host:
    """What a plugin may ask of the host. Each part needs a capability that the installation has granted; what is refused raises `HostError`."""

    def __init__(self, request):
        self.config = _Config(request)
        self.workspace = _Workspace(request)
        self.events = _Events(request)
        self.network = _Network(request)
        self.process = _Process(request)
        self.tasks = _Tasks(request)
        self.secrets = _Secrets(request)
        self.prompts = _Prompts(request)
        self.messages = _Messages(request)
        self.responses = _Responses(request)
        self.providers = _Providers(request)
        self.policy = _Policy(request)


# --- end ---


def run_plugin(plugin):
    """Runs a plugin on standard input and output until the host ends it; then the process exits with 0."""
    out = os.fdopen(os.dup(1), "w", encoding="ascii", newline="\n")
    os.dup2(2, 1)  # whatever else is printed goes to standard error, where svc logs it
    sys.stdout = sys.stderr
    sending = threading.Lock()

    def send(line):
        with sending:
            out.write(line + "\n")
            out.flush()

    url = os.environ.get("SVC_AGENT_SERVER_URL")
    runtime = _Runtime(plugin, send, _note, Client(url) if url else None)
    try:
        for line in _lines(sys.stdin.buffer):
            try:
                frame = json.loads(line)
            except ValueError:
                _note("a line that is no JSON was skipped")
                continue
            runtime.accept(frame)
            if runtime.has_ended:
                break
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    runtime.end()
    os._exit(0)


def _lines(stream):
    """Lines of at most FRAME_BYTES; what is longer is skipped, and so are blank ones."""
    while True:
        line = stream.readline(FRAME_BYTES + 2)
        if not line:
            return
        if len(line) > FRAME_BYTES + 1:
            while line and not line.endswith(b"\n"):
                line = stream.readline(FRAME_BYTES)
            _note("a line that is longer than a frame was skipped")
            continue
        if line.strip():
            yield line


def _note(text):
    print(text, file=sys.stderr, flush=True)


class _Runtime:
    """A plugin at work: frames in, frames out. Knows neither processes nor pipes.

    Every request with an id gets one reply; cancellations, `shutdown` and answers of the host act the moment they arrive; events are handled
    one at a time, in order; after the end nothing more is sent.
    """

    def __init__(self, plugin, send_line, note, client=None):
        self.plugin = plugin
        self.note = note
        self.has_ended = False
        self._send_line = send_line
        self._client = client
        self._owner = None
        self._is_ready = False
        self._lock = threading.Lock()
        self._calls = {}  # id of a call -> its event "cancelled"
        self._asked = {}  # id of a request to the host -> queue that gets its answer
        self._ids = itertools.count(1)
        self._streams = {}  # streamId -> _Stream
        self._events = queue.Queue(EVENT_QUEUE)
        self._busy = threading.Condition()
        self._under_way = 0
        self.host = Host(self.request)
        threading.Thread(target=self._handle_events, daemon=True).start()

    def accept(self, frame):
        """One parsed frame of the host. Never raises."""
        if self.has_ended:
            return
        if not isinstance(frame, dict):
            return self.note("a line that is no frame was skipped")
        method, params = frame.get("method"), frame.get("params")
        params = params if isinstance(params, dict) else {}
        id = frame.get("id")
        id = id if isinstance(id, int) and not isinstance(id, bool) else None
        if not isinstance(method, str):
            answer = self._asked.pop(id, None)
            if answer is not None:
                answer.put(frame)
        elif method == "$/cancel":
            cancelled = self._calls.get(params.get("id"))
            if cancelled is not None:
                cancelled.set()
        elif method == "$/cancelStream":
            stream = self._streams.get(params.get("streamId"))
            if stream is not None:
                stream.cancel()
        elif method == "shutdown":
            if id is not None:
                self._send({"id": id, "result": {}})
            self.end()
        elif method == "event":
            self._begin()
            try:
                self._events.put_nowait(params)
            except queue.Full:
                self._done()
                self.note("the event %s was dropped: too many wait" % params.get("type"))
        elif method == "route.websocket.message":
            self._message(params, id)
        elif id is not None:
            self._call(id, method, params)

    def end(self):
        """As `shutdown` does. Idempotent."""
        with self._lock:
            if self.has_ended:
                return
            self.has_ended = True
        for cancelled in list(self._calls.values()):
            cancelled.set()
        for stream in list(self._streams.values()):
            stream.cancel()
        for answer in list(self._asked.values()):
            answer.put({"error": "the plugin is shut down"})

    def settled(self):
        """Waits until no call and no event is under way."""
        with self._busy:
            self._busy.wait_for(lambda: self._under_way == 0)

    def request(self, method, params, timeout=30):
        """Asks the host; raises `HostError` with its text, or `TimeoutError`."""
        if self.has_ended:
            raise HostError("the plugin is shut down")
        if self._owner is None:
            raise HostError("%s was called before the host said who this plugin is" % method)
        if len(self._asked) >= PENDING_CALLS:
            raise HostError("more than %d requests to the host at once" % PENDING_CALLS)
        id, answer = next(self._ids), queue.Queue(1)
        self._asked[id] = answer
        try:
            self._send({"id": id, "method": method, "params": params, "owner": self._owner})
            reply = answer.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError("%s was not answered within %s s" % (method, timeout)) from None
        finally:
            self._asked.pop(id, None)
        if isinstance(reply.get("error"), str):
            raise HostError(reply["error"])
        return reply.get("result")

    # Calls

    def _call(self, id, method, params):
        if len(self._calls) >= PENDING_CALLS:
            return self._send({"id": id, "error": "more than %d calls at once" % PENDING_CALLS})
        cancelled = threading.Event()
        self._calls[id] = cancelled
        self._begin()
        waiting = self._events.unfinished_tasks
        threading.Thread(target=self._answer, args=(id, method, params, cancelled, waiting), daemon=True).start()

    def _answer(self, id, method, params, cancelled, waiting):
        afterwards = None
        try:
            if waiting and method != "initialize":
                self._heard()
            try:
                result, afterwards = self._perform(id, method, params, cancelled)
                reply = _encode({"id": id, "result": result})
            finally:
                self._calls.pop(id, None)
        except Exception as error:
            if not cancelled.is_set():
                named = params.get("tool") or params.get("hook") or params.get("routeId") or params.get("serviceId") or ""
                self.note("%s %s failed: %s" % (method, named, _trace()))
            reply = _encode({"id": id, "error": _error_text(error)})
        try:
            self._put(reply)
            if afterwards is not None:
                afterwards()
        finally:
            self._done()

    def _perform(self, id, method, params, cancelled):
        if method == "initialize":
            return self._initialize(params, cancelled), None
        if not self._is_ready:
            raise RuntimeError("%s came before initialize" % method)
        plugin, call = self.plugin, Call(self.host, cancelled)
        if method == "tool.invoke":
            tool = _named(plugin.get("tools"), params.get("tool"))
            if tool is None:
                raise LookupError("unknown tool %s" % params.get("tool"))
            context = ToolCall(self.host, cancelled, params, self._client, lambda metadata: self._progress(id, metadata))
            return _tool_result(tool["id"], tool["execute"](params.get("input"), context)), None
        if method == "hook.invoke":
            hook = plugin.get("hooks", {}).get(params.get("hook"))
            return (params.get("value") if hook is None else hook(params.get("context") or {}, params.get("value"), call)), None
        if method in _SERVICES:
            kind = _SERVICES[method]
            service = _named(plugin.get("services", {}).get(kind), params.get("serviceId"))
            if service is None:
                raise LookupError("unknown %s service %s" % (kind, params.get("serviceId")))
            return service["handler"](params.get("request") or {}, call), None
        if method == "route.handle":
            return self._route("routes", params)["handle"](params.get("request") or {}, call), None
        if method == "route.websocket.open":
            return self._open_socket(params, call)
        if method.startswith("provider."):
            return self._provider(method, params, call)
        raise LookupError("unknown method %s" % method)

    def _initialize(self, params, cancelled):
        if self._owner is not None:
            raise RuntimeError("initialize came twice")
        if params.get("protocol") != PROTOCOL:
            raise ValueError("this plugin speaks %s, not %s" % (PROTOCOL, params.get("protocol")))
        self._owner = params.get("owner") or {"pluginId": params.get("pluginId"), "instanceId": params.get("instanceId")}
        offer = _offer_of(self.plugin)
        initialize = self.plugin.get("initialize")
        if initialize is not None:
            context = Call(self.host, cancelled)
            context.owner, context.directory, context.config = self._owner, params.get("directory"), params.get("config")
            context.client = self._client
            initialize(context)
        self._is_ready = True
        return offer

    def _progress(self, id, metadata):
        if id in self._calls and not self.has_ended:
            self._send({"method": "host.tool.progress", "params": {"id": id, "metadata": metadata}, "owner": self._owner})

    def _provider(self, method, params, call):
        provider = next((each for each in self.plugin.get("services", {}).get("providers", []) if each["descriptor"]["id"] == params.get("serviceId")), None)
        if provider is None:
            raise LookupError("unknown provider %s" % params.get("serviceId"))
        if method == "provider.metadata":
            return (provider["metadata"](params.get("model") or {}, call) if "metadata" in provider else {}), None
        if method == "provider.auth":
            return (provider["auth"](params.get("providerId"), call) if "auth" in provider else None), None
        if method == "provider.route" and "route" in provider:
            return provider["route"](params.get("request") or {}, call), None
        if method == "provider.media" and "media" in provider:
            return provider["media"](params, call), None
        if method == "provider.stream":
            stream = self._open_stream(params)
            try:
                items = provider["stream"](params.get("request") or {}, Call(self.host, stream.cancelled))
            except BaseException:
                stream.release()
                raise
            return {}, lambda: stream.pump(items)
        raise LookupError("the provider %s does not serve %s" % (params.get("serviceId"), method))

    def _route(self, kind, params):
        for route in self.plugin.get(kind, []):
            if route["descriptor"]["id"] == params.get("routeId"):
                return route
        raise LookupError("unknown route %s" % params.get("routeId"))

    # Streams

    def _open_socket(self, params, call):
        route = self._route("websocketRoutes", params)
        stream = self._open_stream(params)
        try:
            session = route["open"](params.get("request") or {}, Call(self.host, stream.cancelled))
            stream.attach(session)
        except BaseException:
            stream.release()
            raise
        return {}, lambda: stream.pump(session["outbound"])

    def _open_stream(self, params):
        stream = _Stream(self, params)
        self._streams[stream.stream_id] = stream
        return stream

    def _message(self, params, id):
        stream = self._streams.get(params.get("streamId"))
        if stream is None or stream.session is None:
            if id is not None:
                self._send({"id": id, "error": "unknown stream %s" % params.get("streamId")})
            return
        self._begin()
        stream.take(params.get("message"), id)

    # Events

    def _handle_events(self):
        while True:
            event = self._events.get()
            try:
                for handle in self._handlers_of(event):
                    handle()
            except Exception:
                self.note("the handler of %s failed: %s" % (event.get("type"), _trace()))
            finally:
                self._events.task_done()
                self._done()

    def _handlers_of(self, event):
        if self.has_ended or not self._is_ready:
            return
        call, type = Call(self.host, threading.Event()), str(event.get("type"))
        events = self.plugin.get("events") or {}
        if events.get("handler") is not None and any(type.startswith(prefix) for prefix in events.get("namespaces") or []):
            yield lambda: events["handler"](event, call)
        hook = self.plugin.get("hooks", {}).get("event")
        if hook is not None:
            yield lambda: hook(event, None, call)

    def _heard(self):
        """Waits a moment for the events that came before a call."""
        with self._events.all_tasks_done:
            self._events.all_tasks_done.wait_for(lambda: self._events.unfinished_tasks == 0, timeout=1)

    # Sending

    def _begin(self):
        with self._busy:
            self._under_way += 1

    def _done(self):
        with self._busy:
            self._under_way -= 1
            self._busy.notify_all()

    def _send(self, frame):
        self._put(_encode(frame))

    def _put(self, line):
        if not self.has_ended:
            self._send_line(line)


class _Stream:
    """One stream to the host: open, items, then one end or error; after a cancellation nothing more."""

    def __init__(self, runtime, params):
        self._runtime = runtime
        self._request_id = params.get("requestId", params.get("request_id"))
        self.stream_id = params.get("streamId")
        self.cancelled = threading.Event()
        self.session = None
        self._messages = queue.Queue(STREAM_QUEUE)
        self._is_released = False

    def attach(self, session):
        self.session = session
        threading.Thread(target=self._take_messages, daemon=True).start()

    def cancel(self):
        self.cancelled.set()
        self.release()

    def release(self):
        with self._runtime._lock:
            if self._is_released:
                return
            self._is_released = True
        self._runtime._streams.pop(self.stream_id, None)
        self.cancelled.set()
        session = self.session
        if session is None:
            return
        self._messages.put(None)
        outbound = session.get("outbound")
        if isinstance(outbound, Outbox):
            outbound.close()
        try:
            if session.get("close") is not None:
                session["close"]()
        except Exception:
            self._runtime.note("closing a socket failed: %s" % _trace())

    def pump(self, items):
        iterator = None
        try:
            iterator = iter(items)
            self._emit({"kind": "open"})
            total = 0
            for value in iterator:
                if self.cancelled.is_set():
                    return
                size = len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8"))
                if size > STREAM_ITEM_BYTES:
                    raise ValueError("an item may have at most %d bytes of JSON; this one has %d" % (STREAM_ITEM_BYTES, size))
                total += size
                if total > STREAM_BYTES:
                    raise ValueError("a stream may have at most %d bytes" % STREAM_BYTES)
                self._emit({"kind": "item", "value": value})
            self._emit({"kind": "end"})
        except Exception as error:
            if not self.cancelled.is_set():
                self._runtime.note("a stream failed: %s" % _trace())
                self._emit({"kind": "error", "error": _error_text(error)})
        finally:
            self.release()
            if hasattr(iterator, "close"):
                try:
                    iterator.close()
                except Exception:
                    self._runtime.note("ending a stream failed: %s" % _trace())

    def take(self, message, id):
        try:
            self._messages.put_nowait((message, id))
        except queue.Full:
            self._runtime._done()
            self.cancel()
            if id is not None:
                self._runtime._send({"id": id, "error": "more than %d messages wait for this socket" % STREAM_QUEUE})

    def _take_messages(self):
        for message, id in iter(self._messages.get, None):
            reply = {"id": id, "result": {}}
            try:
                if self.session.get("message") is not None:
                    self.session["message"](message)
            except Exception as error:
                self._runtime.note("a message of a socket failed: %s" % _trace())
                reply = {"id": id, "error": _error_text(error)}
            if id is not None:
                self._runtime._send(reply)
            self._runtime._done()

    def _emit(self, stream):
        if not self.cancelled.is_set():
            stream["streamId"] = self.stream_id
            self._runtime._send({"owner": self._runtime._owner, "requestId": self._request_id, "stream": stream})


def _encode(frame):
    line = json.dumps(frame, separators=(",", ":"), allow_nan=False)
    if len(line) + 1 > FRAME_BYTES:
        raise ValueError("a frame may have at most %d bytes; this one has %d" % (FRAME_BYTES, len(line) + 1))
    return line


def _trace():
    """What is being handled, with the lines of its author: those of this library are left out."""
    shown = traceback.TracebackException.from_exception(sys.exc_info()[1])
    shown.stack = traceback.StackSummary.from_list([frame for frame in shown.stack if frame.filename != __file__])
    return "".join(shown.format()).rstrip("\n")


def _error_text(error):
    text = str(error)
    if isinstance(error, (HostError, Cancelled)) or type(error) in (Exception, RuntimeError, LookupError):
        return (text or type(error).__name__)[:ERROR_TEXT]
    return ("%s: %s" % (type(error).__name__, text) if text else type(error).__name__)[:ERROR_TEXT]


def _named(declared, id):
    return next((each for each in declared or [] if each["id"] == id), None)


def _tool_result(id, answer):
    """Text stays text; other output becomes compact JSON. What is no result is an error: it would reach the model as an empty text."""
    if isinstance(answer, str):
        return {"output": answer}
    if not isinstance(answer, dict) or "output" not in answer:
        raise TypeError('the tool "%s" returned %.100r, which is no result: return a text, or a dict with "output"' % (id, answer))
    output = answer["output"]
    result = dict(answer, output=output if isinstance(output, str) else json.dumps(output, separators=(",", ":"), ensure_ascii=False))
    if "attachments" in answer:
        result["attachments"] = [_attachment(each) for each in answer["attachments"]]
    return result


def _attachment(file):
    """{mime, filename, data} with bytes, or as the protocol has it."""
    if "data" not in file:
        return file
    rest = {key: value for key, value in file.items() if key != "data"}
    return dict(rest, dataBase64=base64.b64encode(file["data"]).decode("ascii"))


def _offer_of(plugin):
    services = plugin.get("services", {})
    unary = {kind: [_service(kind, each) for each in services.get(kind, [])] for kind in _SERVICES.values()}
    providers = [_provider_of(each) for each in services.get("providers", [])]
    offer = {
        "protocol": PROTOCOL,
        "tools": [_tool(each) for each in plugin.get("tools", [])],
        "hooks": [_callable('hook "%s"' % name, hook, name) for name, hook in plugin.get("hooks", {}).items()],
        "eventNamespaces": list((plugin.get("events") or {}).get("namespaces") or []),
        "services": dict(unary, **({"providers": providers} if providers else {})),
        "routes": [_route_of(each, "handle") for each in plugin.get("routes", [])],
        "websocketRoutes": [_route_of(each, "open") for each in plugin.get("websocketRoutes", [])],
        "messageParts": list(plugin.get("messageParts", [])),
        "mcp": list(plugin.get("mcp", [])),
    }
    for key in ("name", "version", "problems"):
        if plugin.get(key):
            offer[key] = plugin[key]
    _refuse_doubles("tool", [each["id"] for each in offer["tools"]])
    for kind, declared in unary.items():
        _refuse_doubles("%s service" % kind, [each["id"] for each in declared])
    return offer


def _tool(tool):
    offered = {key: tool[key] for key in ("id", "outputSchema", "permission") if tool.get(key) is not None}
    if not isinstance(offered.get("id"), str) or not offered["id"]:
        raise ValueError("a tool needs an id")
    offered["description"] = tool.get("description") or ""
    offered["parameters"] = tool.get("parameters") or {"type": "object"}
    return _callable('execute of tool "%s"' % offered["id"], tool.get("execute"), offered)


def _service(kind, service):
    return _callable('handler of %s "%s"' % (kind, service["id"]), service.get("handler"), {"id": service["id"], "priority": service.get("priority", 0)})


def _provider_of(provider):
    offered = {
        "descriptor": provider["descriptor"],
        "priority": provider.get("priority", 0),
        "media": "media" in provider,
        "administration": "route" in provider,
    }
    return _callable('stream of provider "%s"' % provider["descriptor"]["id"], provider.get("stream"), offered)


def _route_of(route, callback):
    offered = {"descriptor": route["descriptor"], "priority": route.get("priority", 0)}
    return _callable('%s of route "%s"' % (callback, route["descriptor"]["id"]), route.get(callback), offered)


def _callable(what, value, offered):
    if not callable(value):
        raise TypeError("%s is not a function" % what)
    return offered


def _refuse_doubles(what, ids):
    double = next((id for index, id in enumerate(ids) if id in ids[:index]), None)
    if double is not None:
        raise ValueError('two %ss have the id "%s"' % (what, double))


def create_test_host(plugin, directory="/workspace", config=None, answers=None, **identity):
    """Starts a plugin in this process under a host made for tests, every frame through JSON as on a pipe; raises when it does not initialise.

    `answers`: what the host answers, by method: a value, or a function of the params; what it raises is a refusal.
    """
    return TestHost(plugin, directory, config or {}, answers or {}, identity)


class TestHost:
    """Calls a plugin as the host does."""

    __test__ = False  # nothing for pytest to collect

    _REQUEST = {"tenantId": None, "hosted": False, "workspaceId": None, "sessionId": None, "actor": None, "path": {}, "query": {}, "headers": {}, "body": None}

    def __init__(self, plugin, directory, config, answers, identity):
        self.requests = []
        """What the plugin asked of the host: {method, params, owner}."""
        self.notes = []
        """What it wrote for people."""
        self.progress = []
        """What tools said of how far they are."""
        self._answers = dict(answers)
        self._directory = directory
        self._owner = dict({"pluginId": "dev.example.plugin", "instanceId": "plugin-instance-1"}, **identity)
        self._ids = itertools.count(1)
        self._pending = {}
        self._opened = {}
        self._runtime = _Runtime(plugin, self._receive, self.notes.append)
        params = {"protocol": PROTOCOL, "pluginId": self._owner["pluginId"], "instanceId": self._owner["instanceId"]}
        self.offered = self.call("initialize", dict(params, directory=directory, config=config, owner=self._owner))

    def answer(self, method, answer):
        """Changes what the host answers."""
        self._answers[method] = answer

    def call(self, method, params, timeout=60):
        """Any method; raises `HostError` with the text of the plugin."""
        if self._runtime.has_ended:
            raise HostError("the plugin has ended")
        id, reply = next(self._ids), queue.Queue(1)
        self._pending[id] = reply
        try:
            self._post({"id": id, "method": method, "params": params})
            frame = reply.get(timeout=timeout)
        except queue.Empty:
            self._post({"method": "$/cancel", "params": {"id": id}})
            raise TimeoutError("%s was not answered within %s s" % (method, timeout)) from None
        finally:
            self._pending.pop(id, None)
        if frame.get("error") is not None:
            raise HostError(frame["error"])
        return frame.get("result")

    def call_tool(self, tool, input=None, **place):
        """Answers {output, title?, metadata?, attachments?}. `place`: sessionId, messageId, callId, directory."""
        return self.call("tool.invoke", dict({"tool": tool, "directory": self._directory, "input": input or {}}, **place))

    def run_hook(self, hook, context, value):
        return self.call("hook.invoke", {"hook": hook, "context": context, "value": value})

    def send_event(self, event):
        """Returns when it was handled."""
        self._post({"method": "event", "params": dict({"id": "evt_%d" % next(self._ids), "properties": {}}, **event)})
        self._runtime.settled()

    def call_service(self, kind, id, request=None):
        method = next(method for method, each in _SERVICES.items() if each == kind)
        service = {"workspaceId": None, "directory": self._directory, "options": {}}
        base = {"promptId": "default", "variables": {}, "service": service} if kind == "prompts" else service
        return self.call(method, {"serviceId": id, "request": dict(base, **(request or {}))})

    def call_route(self, id, request=None):
        """Answers {status, headers, body}."""
        reply = self.call("route.handle", {"routeId": id, "request": dict(self._REQUEST, workspace=self._directory, **(request or {}))})
        return dict({"headers": {}, "body": None}, **reply)

    def stream_provider(self, id, request):
        """Yields what the provider says."""
        params, items = self._stream()
        self.call("provider.stream", dict(params, serviceId=id, request=request))
        return self._items(params, items)

    def open_socket(self, id, request=None):
        """Answers a `TestSocket`."""
        params, items = self._stream()
        asked = dict(self._REQUEST, workspace=self._directory, **(request or {}))
        self.call("route.websocket.open", dict(params, routeId=id, request=asked))
        return TestSocket(self, params, self._items(params, items))

    def shutdown(self):
        if not self._runtime.has_ended:
            try:
                self.call("shutdown", {})
            except HostError:
                pass
        self._runtime.settled()

    def _stream(self):
        number = next(self._ids)
        stream_id = "%s-stream-%d" % (self._owner["instanceId"], number)
        items = self._opened[stream_id] = queue.Queue()
        return {"streamId": stream_id, "requestId": number}, items

    def _items(self, params, items):
        try:
            while True:
                stream = items.get(timeout=60)
                if stream["kind"] == "end":
                    return
                if stream["kind"] == "error":
                    raise HostError(stream["error"])
                if stream["kind"] == "item":
                    yield stream["value"]
        finally:
            self._opened.pop(params["streamId"], None)
            self._post({"method": "$/cancelStream", "params": params})

    def _post(self, frame):
        self._runtime.accept(json.loads(_encode(frame)))

    def _receive(self, line):
        frame = json.loads(line)
        if "stream" in frame:
            opened = self._opened.get(frame["stream"]["streamId"])
            if opened is not None:
                opened.put(frame["stream"])
        elif "method" in frame and "id" not in frame:
            self.progress.append(frame["params"]["metadata"])
        elif "method" in frame:
            self._serve(frame)
        elif frame.get("id") in self._pending:
            self._pending[frame["id"]].put(frame)

    def _serve(self, frame):
        self.requests.append({key: frame.get(key) for key in ("method", "params", "owner")})
        answer = self._answers.get(frame["method"])
        if answer is None:
            return self._post({"id": frame["id"], "error": "%s is not answered in this test" % frame["method"]})
        try:
            value = answer(frame["params"]) if callable(answer) else answer
        except Exception as error:
            return self._post({"id": frame["id"], "error": str(error)})
        if isinstance(value, (bytes, str)) and frame["method"] == "host.workspace.read":
            value = list(value if isinstance(value, bytes) else value.encode("utf-8"))
        is_plain = frame["method"].startswith(("host.config.", "host.workspace.", "host.event.")) or frame["method"].endswith(".cancel")
        if not is_plain and value is not None and not (isinstance(value, dict) and "output" in value):
            text = 'the answer of this test for %s is none of a broker, which answers {"output": ...}' % frame["method"]
            return self._post({"id": frame["id"], "error": text})
        self._post({"id": frame["id"], "result": value})


class TestSocket:
    """A client of a socket."""

    __test__ = False

    def __init__(self, host, params, outbound):
        self._host, self._params = host, params
        self.outbound = outbound
        """Yields what the plugin sends."""

    def send(self, message):
        self._host.call("route.websocket.message", {"streamId": self._params["streamId"], "message": message})

    def close(self):
        try:
            self.send({"kind": "close"})
        except HostError:
            pass
        self._host._post({"method": "$/cancelStream", "params": self._params})
        self._host._runtime.settled()
