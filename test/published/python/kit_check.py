"""The library for Python, held to what the library for Node does (plugin-protocol §11). Run by kit-in-python.test.ts."""

import threading
import unittest

from svc_plugin import Cancelled, HostError, Outbox, create_test_host

OWNER = {"packageRevision": "sha256:1", "registryGeneration": 3, "scope": "workspace", "workspaceId": "/w"}


def tool(id, execute):
    return {"id": id, "description": "d", "parameters": {"type": "object"}, "execute": execute}


class Library(unittest.TestCase):
    def start(self, plugin, **options):
        host = create_test_host(plugin, **options)
        self.addCleanup(host.shutdown)
        return host

    def test_offers_six_lists_of_services_even_when_empty_and_providers_only_when_there_are_some(self):
        offered = self.start({"name": "x", "tools": [tool("t", lambda input, context: "")]}).offered
        self.assertEqual(offered["tools"], [{"id": "t", "description": "d", "parameters": {"type": "object"}}])
        self.assertEqual(set(offered["services"]), {"agents", "commands", "skills", "systemContext", "prompts", "config"})
        self.assertEqual((offered["protocol"], offered["name"]), ("svc-plugin/2", "x"))
        self.assertNotIn("version", offered)

    def test_asks_the_host_in_the_middle_of_a_call_with_the_owner_it_was_given(self):
        def execute(input, context):
            return {"output": [context.host.config.get("theme"), context.host.secrets.use("sign", {"a": 1}), context.host.workspace.read("f").decode()]}

        answers = {"host.config.get": "dark", "host.secret.use": lambda params: {"output": params}, "host.workspace.read": "text"}
        host = self.start({"tools": [tool("t", execute)]}, answers=answers, **OWNER)
        self.assertEqual(host.call_tool("t")["output"], '["dark",{"operation":"sign","input":{"a":1}},"text"]')
        owner = dict(OWNER, pluginId="dev.example.plugin", instanceId="plugin-instance-1")
        self.assertEqual([request["owner"] for request in host.requests], [owner] * 3)

    def test_raises_what_the_host_refuses(self):
        host = self.start({"tools": [tool("t", lambda input, context: context.host.workspace.write("f", b"x"))]})
        with self.assertRaisesRegex(HostError, "host.workspace.write is not answered"):
            host.call_tool("t")

    def test_a_broker_answers_output_in_a_test_too(self):
        plugin = {"tools": [tool("ask", lambda input, context: {"output": str(context.host.network.call("fetch", {"url": "https://a"})["status"])})]}
        host = self.start(plugin, answers={"host.network.request": {"output": {"status": 200}}})
        self.assertEqual(host.call_tool("ask")["output"], "200")
        host.answer("host.network.request", {"status": 200})
        with self.assertRaisesRegex(HostError, "which answers"):
            host.call_tool("ask")
        note = host.notes[-1]
        self.assertRegex(note, r"(?s)tool.invoke ask failed: Traceback.*kit_check\.py.*HostError: the answer of this test")
        self.assertNotIn("svc_plugin.py", note)

    def test_a_tool_knows_its_message_and_call_tells_progress_and_gives_files(self):
        def execute(input, context):
            context.progress({"done": 0.5})
            file = {"mime": "text/plain", "filename": "a.txt", "data": b"hi"}
            return {"output": " ".join([context.session_id, context.message_id, context.call_id]), "attachments": [file]}

        host = self.start({"tools": [tool("t", execute)]})
        answer = host.call_tool("t", {}, sessionId="s", messageId="m", callId="c")
        self.assertEqual(answer, {"output": "s m c", "attachments": [{"mime": "text/plain", "filename": "a.txt", "dataBase64": "aGk="}]})
        self.assertEqual(host.progress, [{"done": 0.5}])

    def test_unknown_things_are_errors_and_an_undeclared_hook_changes_nothing(self):
        host = self.start({"tools": [tool("t", lambda input, context: 5)]})
        for method, params, text in [
            ("tool.invoke", {"tool": "no"}, "unknown tool no"),
            ("no.method", {}, "unknown method no.method"),
            ("command.list", {"serviceId": "no"}, "unknown commands service no"),
            ("route.handle", {"routeId": "no"}, "unknown route no"),
            ("provider.auth", {"serviceId": "no"}, "unknown provider no"),
            ("tool.invoke", {"tool": "t"}, "which is no result"),
        ]:
            with self.assertRaisesRegex(HostError, text):
                host.call(method, params)
        self.assertEqual(host.run_hook("shell.env", {}, {"A": "1"}), {"A": "1"})

    def test_events_are_heard_in_order_before_the_call_that_follows(self):
        heard = []
        events = {"namespaces": ["session."], "handler": lambda event, call: heard.append(event["type"])}
        host = self.start({"events": events, "tools": [tool("t", lambda input, context: " ".join(heard))]})
        host.send_event({"type": "message.created"})
        for type in ("session.a", "session.b"):
            host._post({"method": "event", "params": {"id": "e", "type": type, "properties": {}}})
        self.assertEqual(host.call_tool("t")["output"], "session.a session.b")

    def test_a_cancelled_call_is_told(self):
        began, ended = threading.Event(), []

        def execute(input, context):
            began.set()
            context.cancelled.wait(20)
            try:
                context.check()
            except Cancelled:
                ended.append(True)
            return ""

        host = self.start({"tools": [tool("t", execute)]})
        calling = threading.Thread(target=lambda: host.call_tool("t"))
        calling.start()
        began.wait(20)
        host._post({"method": "$/cancel", "params": {"id": max(host._pending)}})
        calling.join(20)
        self.assertEqual(ended, [True])

    def test_a_provider_streams_and_is_closed_when_nobody_reads_on(self):
        closed = threading.Event()

        def stream(request, call):
            try:
                for number in itertools_count():
                    yield {"type": "text-delta", "id": "1", "delta": str(number)}
            finally:
                closed.set()

        def itertools_count():
            number = 0
            while True:
                yield number
                number += 1

        host = self.start({"services": {"providers": [{"descriptor": {"id": "p", "name": "p"}, "stream": stream}]}})
        self.assertTrue(host.offered["services"]["providers"][0]["media"] is False)
        items = host.stream_provider("p", {})
        self.assertEqual([next(items)["delta"], next(items)["delta"]], ["0", "1"])
        items.close()
        self.assertTrue(closed.wait(20))

    def test_a_socket_sends_takes_and_is_closed_once(self):
        closed = []

        def opened(request, call):
            outbox = Outbox()
            outbox.text("ready")
            return {"outbound": outbox, "message": outbox.send, "close": lambda: closed.append(True)}

        route = {"descriptor": {"id": "s", "method": "GET", "path": "/s", "scope": "workspace"}, "open": opened}
        socket = self.start({"websocketRoutes": [route]}).open_socket("s")
        self.assertEqual(next(socket.outbound), {"kind": "text", "data": "ready"})
        socket.send({"kind": "text", "data": "hello"})
        self.assertEqual(next(socket.outbound), {"kind": "text", "data": "hello"})
        socket.close()
        self.assertEqual(closed, [True])

    def test_what_is_no_function_and_what_stands_twice_is_refused_at_the_start(self):
        for plugin, text in [
            ({"tools": [{"id": "t", "description": "d"}]}, 'execute of tool "t" is not a function'),
            ({"tools": [tool("t", print), tool("t", print)]}, 'two tools have the id "t"'),
            ({"hooks": {"shell.env": 5}}, 'hook "shell.env" is not a function'),
        ]:
            with self.assertRaisesRegex(HostError, text):
                create_test_host(plugin)

    def test_initialize_gets_the_configuration_and_may_ask_the_host(self):
        seen = []

        def initialize(context):
            seen.extend([context.config, context.host.config.get("theme"), context.owner["pluginId"]])

        self.start({"initialize": initialize}, config={"a": 1}, answers={"host.config.get": "dark"})
        self.assertEqual(seen, [{"a": 1}, "dark", "dev.example.plugin"])


if __name__ == "__main__":
    unittest.main()
