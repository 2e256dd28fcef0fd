"""Says what is in a CSV file of the workspace: a line for each column, and the same as a JSON file beside it."""

import csv
import io
import json
import statistics

from svc_plugin import run_plugin

# Rows after which people are told how far it is, and columns and values that are looked at.
STEP = 10000
COLUMNS = 200
SHOWN = 3


def summarise(input, context):
    path = input["path"]
    text = context.host.workspace.read(path).decode("utf-8-sig", "replace")
    rows = csv.reader(io.StringIO(text), delimiter=input.get("delimiter", ","))
    header = next(rows, None)
    if header is None:
        raise ValueError(f"{path} is empty")
    columns = [[] for _ in header[:COLUMNS]]
    count = 0
    for count, row in enumerate(rows, 1):
        for values, value in zip(columns, row):
            values.append(value.strip())
        if count % STEP == 0:
            context.check()
            context.progress({"rows": count})
    summary = [dict({"column": name}, **about(values)) for name, values in zip(header, columns)]
    lines = [f"{path}: {count} rows, {len(header)} columns"] + [line(each) for each in summary]
    data = json.dumps(summary, ensure_ascii=False, indent=2).encode("utf-8")
    return {
        "title": f"summary of {path}",
        "output": "\n".join(lines),
        "metadata": {"rows": count, "columns": len(header)},
        "attachments": [{"mime": "application/json", "filename": "summary.json", "data": data}],
    }


def about(values):
    present = [value for value in values if value != ""]
    numbers = [number for number in map(number_of, present) if number is not None]
    result = {"empty": len(values) - len(present), "distinct": len(set(present))}
    if present and len(numbers) == len(present):
        return dict(result, least=min(numbers), most=max(numbers), mean=round(statistics.fmean(numbers), 6))
    return dict(result, examples=sorted(set(present))[:SHOWN])


def number_of(text):
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number - number == 0 else None  # neither infinite nor no number


def line(column):
    rest = ", ".join(f"{name} {value if not isinstance(value, list) else ' | '.join(value)}" for name, value in column.items() if name != "column")
    return f"- {column['column']}: {rest}"


PLUGIN = {
    "name": "CSV summary",
    "version": "1.0.0",
    "tools": [
        {
            "id": "csv_summary",
            "description": "Says what the columns of a CSV file hold: how many values, the least, the most and the mean of numbers, examples of texts. Use it before reading a large table.",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Path of the file, seen from the workspace"},
                    "delimiter": {"type": "string", "description": "One character; a comma without it", "minLength": 1, "maxLength": 1},
                },
                "required": ["path"],
            },
            "permission": {"permission": "read", "argument": "path"},
            "execute": summarise,
        }
    ],
}

if __name__ == "__main__":
    run_plugin(PLUGIN)
