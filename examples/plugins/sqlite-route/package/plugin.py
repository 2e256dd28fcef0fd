"""Lets a page or a script look into SQLite databases of the workspace, and change nothing in them:

    GET  /v2/plugins/dev.example.sqlite-route/tables?database=data/shop.db
    POST /v2/plugins/dev.example.sqlite-route/rows    {"database": "data/shop.db", "sql": "select * from town where id = ?", "parameters": [1]}

The host hands over the whole file, so it has at most some 250 KiB; a question is asked of a copy.
"""

import base64
import contextlib
import json
import os
import sqlite3
import tempfile

from svc_plugin import HostError, run_plugin

ROWS = 500
ANSWER_BYTES = 512 * 1024
VALUE_BYTES = 64 * 1024
# Instructions of the machine in SQLite: one question takes about two seconds at most.
STEPS, STEP = 2000, 10000
# What the machine may do; anything else (writing, attaching files, changing settings) is refused before it runs.
READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, 33}  # 33: SQLITE_RECURSIVE


def authorise(action, first, second, *_):
    is_file = action == sqlite3.SQLITE_FUNCTION and second == "load_extension"
    return sqlite3.SQLITE_OK if action in READING and not is_file else sqlite3.SQLITE_DENY


@contextlib.contextmanager
def opened(path, call):
    """A copy of the database that answers questions only, and not for ever."""
    content = call.host.workspace.read(path)
    if not content.startswith(b"SQLite format 3\0"):
        raise ValueError(f"{path} is no SQLite database")
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy.db")
        with open(copy, "wb") as file:
            file.write(content)
        connection = sqlite3.connect(copy)
        try:
            steps = iter(range(STEPS))
            connection.set_progress_handler(lambda: call.cancelled.is_set() or next(steps, None) is None, STEP)
            if hasattr(connection, "setlimit"):  # since Python 3.11
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 4 * len(content) + ANSWER_BYTES)
            connection.set_authorizer(authorise)
            yield connection
        finally:
            connection.close()


def tables(request, call):
    path = only(request["query"].get("database", []), "database")
    with opened(path, call) as connection:
        named = connection.execute("select name, sql from sqlite_master where type in ('table', 'view') order by name")
        return {"status": 200, "body": {"tables": [{"name": name, "sql": sql} for name, sql in named]}}


def rows(request, call):
    body = request["body"] if isinstance(request["body"], dict) else {}
    path, sql, parameters = body.get("database"), body.get("sql"), body.get("parameters", [])
    if not (isinstance(path, str) and isinstance(sql, str) and isinstance(parameters, list)):
        raise ValueError('send {"database": …, "sql": …, "parameters": […]}')
    with opened(path, call) as connection:
        cursor = connection.execute(sql, parameters)
        found, size = [], 0
        for row in cursor:
            found.append([shown(value) for value in row])
            size += len(json.dumps(found[-1]))
            if len(found) > ROWS or size > ANSWER_BYTES:
                found.pop()
                break
        more = len(found) == ROWS or size > ANSWER_BYTES
        columns = [name for name, *_ in cursor.description or []]
        return {"status": 200, "body": {"columns": columns, "rows": found, "more": more}}


def shown(value):
    """As JSON has it: bytes in Base64, and no number that a page would round."""
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value[:VALUE_BYTES]).decode("ascii")}
    if isinstance(value, int) and abs(value) > 2**53:
        return str(value)
    return value[:VALUE_BYTES] if isinstance(value, str) else value


def only(values, name):
    if len(values) != 1:
        raise ValueError(f"give one {name}")
    return values[0]


def answering(handle):
    """What is wrong with a question is told to whoever asked it."""

    def handled(request, call):
        try:
            return handle(request, call)
        except (HostError, ValueError, sqlite3.Error, sqlite3.Warning) as error:
            return {"status": 400, "body": {"message": str(error)}}

    return handled


def route(name, method, handle):
    return {"descriptor": {"id": f"sqlite-{name}", "method": method, "path": f"/{name}", "scope": "workspace"}, "handle": answering(handle)}


PLUGIN = {
    "name": "SQLite route",
    "version": "1.0.0",
    "routes": [route("tables", "GET", tables), route("rows", "POST", rows)],
}

if __name__ == "__main__":
    run_plugin(PLUGIN)
