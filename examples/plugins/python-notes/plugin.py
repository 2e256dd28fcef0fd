"""Searches the Markdown notes of a workspace: the files in notes/ that end in .md."""

from svc_plugin import run_plugin


def search_notes(input, call):
    words = input["query"].lower().split()
    found = []
    for name in call.host.workspace.list("notes"):
        if not name.endswith(".md") or call.cancelled.is_set():
            continue
        text = call.host.workspace.read(f"notes/{name}").decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            if all(word in line.lower() for word in words):
                found.append(f"notes/{name}:{number}: {line.strip()}")
    return {
        "title": f"search notes for {input['query']}",
        "output": "\n".join(found[:200]) or "No note has a line with all these words.",
        "metadata": {"matches": len(found)},
    }


PLUGIN = {
    "name": "Notes",
    "version": "1.0.0",
    "tools": [
        {
            "id": "search_notes",
            "description": "Finds lines in the notes of the workspace that contain all the given words.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string", "description": "Words, separated by spaces"}},
                "required": ["query"],
            },
            "execute": search_notes,
        }
    ],
}


if __name__ == "__main__":
    run_plugin(PLUGIN)
