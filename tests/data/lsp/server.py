"""A language server that a test drives, over standard input and output. It knows the words of the files below its
root: `def NAME` defines one, BAD is an error, ODD a warning, and
`breaks NAME` an error in the file of that name.

Its one argument is JSON: `name`; `encoding` (utf-8, utf-16, utf-32); `push` (versioned; bare: without versions; held: not
by itself; never); `pull`; `lacks` (methods it does not offer); `silent` (methods it does not answer); `holds` (methods it answers after
`test/answer`);
`dies` (the method it dies of); `many` (errors on the first line); `stale` (the version before is published first);
`outside` (where everything is defined); `renames` (what else a renaming does); `acts` (how code actions
answer: outside, creates, creates again, creates empty, creates outside, deletes, moves, stale, broken);
`formats` (how formatting answers: broken, overlaps, same, whole, inserts, none); `applies` (methods before whose answer it sends an edit by itself); `log` (a file for the methods that came). Notifications change it while it runs: `test/set` with some of these, and
`test/publish` publishes for all open files, `test/old` for the version before.
"""

import json
import os
import re
import sys

WORD = re.compile(r"\w+")
METHODS = {
    "definition": "textDocument/definition",
    "references": "textDocument/references",
    "hover": "textDocument/hover",
    "documentSymbol": "textDocument/documentSymbol",
    "workspaceSymbol": "workspace/symbol",
    "rename": "textDocument/rename",
    "codeAction": "textDocument/codeAction",
    "documentFormatting": "textDocument/formatting",
    "documentRangeFormatting": "textDocument/rangeFormatting",
}
set_up = {"name": "scripted", "encoding": "utf-16", "push": "versioned", "pull": False, **json.loads(sys.argv[1])}
documents = {}
held = []
root = ""


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def receive():
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def units(text):
    """Columns of a text, in the encoding that was agreed on."""
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[set_up["encoding"]]
    return len(text.encode(set_up["encoding"] + ("-le" if width > 1 else ""))) // width


def span(row, line, start, end):
    return {
        "start": {"line": row, "character": units(line[:start])},
        "end": {"line": row, "character": units(line[:end])},
    }


def texts():
    """Every file below the root, open ones as they are in the editor."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    found["file://" + path] = file.read()
    found.update({uri: it["text"] for uri, it in documents.items()})
    return sorted(found.items())


def places(pattern):
    for uri, text in texts():
        for row, line in enumerate(text.split("\n")):
            for match in re.finditer(pattern, line):
                yield {"uri": uri, "range": span(row, line, match.start(), match.end())}


def word_at(params):
    uri, position = params["textDocument"]["uri"], params["position"]
    line = documents[uri]["text"].split("\n")[position["line"]]
    for match in WORD.finditer(line):
        if units(line[: match.start()]) <= position["character"] < units(line[: match.end()]):
            return match.group()
    return "?"


def renamed(params):
    """A workspace edit; `renames` says how it is written, and what else is in it."""
    kind, new = set_up.get("renames", ""), params["newName"]
    edits = {}
    for place in places(rf"\b{word_at(params)}\b"):
        edits.setdefault(place["uri"], []).append({"range": place["range"], "newText": new})
    if kind == "":
        return {"changes": edits}
    versions = {uri: it["version"] for uri, it in documents.items()}
    documents_of = [
        {"textDocument": {"uri": uri, "version": versions.get(uri, None)}, "edits": all} for uri, all in edits.items()
    ]
    old, other = f"file://{root}/shapes.py", f"file://{root}/{new}.py"
    extra = {
        "moves": [{"kind": "rename", "oldUri": old, "newUri": other}],
        "deletes": [{"kind": "delete", "uri": f"file://{root}/old.py"}],
        "creates": [
            {"kind": "create", "uri": other},
            {"textDocument": {"uri": other, "version": None}, "edits": [{"range": span(0, "", 0, 0), "newText": "x = 1\n"}]},
        ],
        "outside": [{"textDocument": {"uri": "file:///etc/hosts", "version": None}, "edits": documents_of[0]["edits"]}],
        "stale": [],
        "broken": [{"textDocument": {"uri": f"file://{root}/old.py", "version": None}, "edits": [{"range": span(999, "", 0, 0), "newText": ""}]}],
    }
    if kind == "stale":
        documents_of[0]["textDocument"]["version"] = -1
    return {"documentChanges": documents_of + extra[kind]}


def replaced(uri, row, old, new):
    """A change of a word on a line."""
    line = documents[uri]["text"].split("\n")[row]
    return {"range": span(row, line, line.index(old), line.index(old) + len(old)), "newText": new}


def actions(params):
    """A fix for each BAD in the range, a fix that has to be resolved, one that is disabled, and a command."""
    uri, where = params["textDocument"]["uri"], params["range"]
    only, kind = params["context"].get("only"), set_up.get("acts", "")
    rows = range(where["start"]["line"], where["end"]["line"] + 1)
    lines = documents[uri]["text"].split("\n")
    found = []
    for row in rows:
        for word in re.findall(r"BAD\w*", lines[row]):
            edit = {"changes": {uri: [replaced(uri, row, word, "good")]}}
            if kind == "outside":
                edit = {"changes": {"file:///etc/hosts": edit["changes"][uri]}}
            elif kind == "creates":
                made = {"kind": "create", "uri": uri.replace("a.py", "new/b.py")}
                new = {"textDocument": {"uri": uri.replace("a.py", "new/b.py"), "version": None}, "edits": [{"range": span(0, "", 0, 0), "newText": "made\nby\n"}]}
                edit = {"documentChanges": [made, new]}
            elif kind == "creates empty":
                edit = {"documentChanges": [{"kind": "create", "uri": uri.replace("a.py", "new/b.py")}]}
            elif kind == "creates again":
                edit = {"documentChanges": [{"kind": "create", "uri": uri}]}
            elif kind == "creates outside":
                new = {"textDocument": {"uri": "file:///etc/new", "version": None}, "edits": [{"range": span(0, "", 0, 0), "newText": "made"}]}
                edit = {"documentChanges": [{"kind": "create", "uri": "file:///etc/new"}, new]}
            elif kind == "deletes":
                edit = {"documentChanges": [{"kind": "delete", "uri": uri}]}
            elif kind == "moves":
                edit = {"documentChanges": [{"kind": "rename", "oldUri": uri, "newUri": uri + "x"}]}
            elif kind == "stale":
                edit = {"documentChanges": [{"textDocument": {"uri": uri, "version": -1}, "edits": edit["changes"][uri]}]}
            elif kind == "broken":
                edit = {"changes": {uri: [{"range": span(999, "", 0, 0), "newText": ""}]}}
            count = len(params["context"]["diagnostics"])
            found.append({"title": f"Replace {word} on {row + 1} ({count})", "kind": "quickfix", "edit": edit})
    found.append({"title": "Sort the lines", "kind": "source.sort", "data": uri})
    found.append({"title": "Extract", "kind": "refactor.extract", "disabled": {"reason": "nothing is selected"}})
    found.append({"title": "Run the tests", "command": "test.run", "arguments": []})
    command = {"title": "Run", "command": "test.run", "arguments": []}
    first = [{"range": span(0, "", 0, 0), "newText": "first\n"}]
    found.append({"title": "Add a line", "kind": "refactor", "edit": {"changes": {uri: first}}, "command": command})
    found.append({"title": "Only run", "kind": "refactor", "command": command})
    return [it for it in found if not only or it.get("kind", "").startswith(only[0])]


def resolved(action):
    if action["title"] != "Sort the lines":
        return action
    text = documents[action["data"]]["text"]
    lines = text.split("\n")
    end = {"line": len(lines) - 1, "character": units(lines[-1])}
    whole = {"start": {"line": 0, "character": 0}, "end": end}
    new = "\n".join(sorted(lines[:-1]) + lines[-1:])
    return {**action, "edit": {"changes": {action["data"]: [{"range": whole, "newText": new}]}}}


def formatted(params):
    """Removes the blanks at the ends of the lines."""
    uri, kind = params["textDocument"]["uri"], set_up.get("formats", "")
    lines = documents[uri]["text"].split("\n")
    if kind == "broken":
        return [{"range": span(999, "", 0, 0), "newText": ""}]
    if kind == "same":
        return [{"range": span(0, lines[0], 0, len(lines[0])), "newText": lines[0]}]
    if kind == "none":
        return None
    if kind == "whole":
        end = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines) + 5, "character": 0}}
        return [{"range": end, "newText": "\n".join(line.rstrip() for line in lines)}]
    if kind == "inserts":
        at = span(1, "", 0, 0)
        return [{"range": at, "newText": f"{n}\n"} for n in range(9)] + [{"range": span(1, lines[1], 0, 3), "newText": "2"}]
    where = params.get("range", {"start": {"line": 0}, "end": {"line": len(lines)}})
    found = []
    for row, line in enumerate(lines):
        bare = line.rstrip()
        if bare != line and where["start"]["line"] <= row <= where["end"]["line"]:
            found.append({"range": span(row, line, len(bare), len(line)), "newText": ""})
    return found * 2 if kind == "overlaps" else found


def apply():
    """Sends an edit that nobody has asked for."""
    first = [{"range": span(0, "", 0, 0), "newText": "by itself\n"}]
    edit = {"changes": {uri: first for uri in documents}}
    send({"id": 1, "method": "workspace/applyEdit", "params": {"edit": edit}})


def symbols(text):
    for row, line in enumerate(text.split("\n")):
        for match in re.finditer(r"def (\w+)", line):
            yield match.group(1), span(row, line, match.start(1), match.end(1))


def whole(text, at):
    """The range of a definition: its line and the indented lines below."""
    lines, last = text.split("\n"), at["start"]["line"]
    while last + 1 < len(lines) and lines[last + 1].startswith(" "):
        last += 1
    return {"start": {"line": at["start"]["line"], "character": 0}, "end": {"line": last, "character": units(lines[last])}}


def diagnostics(uri):
    found = []
    for row, line in enumerate(documents[uri]["text"].split("\n")):
        for word, severity in (("BAD", 1), ("ODD", 2)):
            for match in re.finditer(word + r"\w*", line):
                where = span(row, line, match.start(), match.end())
                message = f"{match.group()} is {['', 'wrong', 'doubtful'][severity]}"
                found.append({"range": where, "severity": severity, "source": set_up["name"], "message": message})
    for n in range(set_up.get("many", 0)):
        found.append({"range": span(0, "", 0, 0), "severity": 1, "source": set_up["name"], "message": f"number {n}"})
    return found


def publish(uri, version, found):
    params = {"uri": uri, "diagnostics": found}
    if set_up["push"] != "bare" and version is not None:
        params["version"] = version
    send({"method": "textDocument/publishDiagnostics", "params": params})


def came(uri):
    if set_up["push"] in ("held", "never"):
        return
    for name in re.findall(r"breaks (\w+)", documents[uri]["text"]):
        where = {"range": span(0, "", 0, 0), "severity": 1, "source": set_up["name"], "message": "it is broken"}
        publish(f"file://{root}/{name}.py", None, [where])
    version = documents[uri]["version"]
    if set_up.get("stale"):
        publish(uri, version - 1, [])
    publish(uri, version, diagnostics(uri))


def answer(method, params):
    if method == "initialize":
        global root
        root = params["rootUri"][len("file://") :]
        offers = {k + "Provider": True for k, v in METHODS.items() if v not in set_up.get("lacks", [])}
        if offers.get("codeActionProvider"):
            offers["codeActionProvider"] = {"resolveProvider": True}
        if set_up["pull"]:
            offers["diagnosticProvider"] = {"interFileDependencies": False, "workspaceDiagnostics": False}
        sync = {"openClose": True, "change": 1, "save": True}
        return {"capabilities": {"positionEncoding": set_up["encoding"], "textDocumentSync": sync, **offers}}
    if method == "textDocument/definition":
        if "outside" in set_up:
            return {"uri": "file://" + set_up["outside"], "range": span(0, "", 0, 0)}
        return list(places(rf"(?<=def ){word_at(params)}\b"))
    if method == "textDocument/references":
        return list(places(rf"\b{word_at(params)}\b"))
    if method == "textDocument/hover":
        return {"contents": {"kind": "markdown", "value": f"the word **{word_at(params)}**"}}
    if method == "textDocument/rename":
        return renamed(params) if word_at(params) != "?" else None
    if method == "textDocument/codeAction":
        return actions(params)
    if method == "codeAction/resolve":
        return resolved(params)
    if method in ("textDocument/formatting", "textDocument/rangeFormatting"):
        return formatted(params)
    if method == "textDocument/documentSymbol":
        text = documents[params["textDocument"]["uri"]]["text"]
        return [{"name": name, "kind": 12, "range": whole(text, at), "selectionRange": at} for name, at in symbols(text)]
    if method == "workspace/symbol":
        found = [(uri, name, at) for uri, text in texts() for name, at in symbols(text) if params["query"] in name]
        return [{"name": name, "kind": 12, "location": {"uri": uri, "range": at}} for uri, name, at in found]
    if method == "textDocument/diagnostic":
        return {"kind": "full", "items": diagnostics(params["textDocument"]["uri"])}
    return None


def notified(method, params):
    if method == "exit":
        sys.exit(0)
    elif method == "textDocument/didOpen":
        document = params["textDocument"]
        documents[document["uri"]] = {"text": document["text"], "version": document["version"]}
        came(document["uri"])
    elif method == "textDocument/didChange":
        document = params["textDocument"]
        text = params["contentChanges"][-1]["text"]
        documents[document["uri"]] = {"text": text, "version": document["version"]}
        came(document["uri"])
    elif method == "textDocument/didClose":
        documents.pop(params["textDocument"]["uri"], None)
    elif method == "test/set":
        set_up.update(params)
    elif method == "test/publish":
        for uri in documents:
            publish(uri, documents[uri]["version"], diagnostics(uri))
    elif method == "test/answer":
        for it in held:
            send({"id": it["id"], "result": answer(it["method"], it.get("params"))})
    elif method == "test/old":
        for uri in documents:
            publish(uri, documents[uri]["version"] - 1, [])


while (message := receive()) is not None:
    name = message.get("method")
    if "log" in set_up:
        with open(set_up["log"], "a", encoding="utf-8") as log:
            log.write(f"{set_up['name']} {name or message.get('result')}\n")
    if name and name == set_up.get("dies"):
        sys.exit(1)
    if name in set_up.get("silent", []):
        continue
    if name in set_up.get("holds", []):
        held.append(message)
    elif "id" in message and name:
        if name in set_up.get("applies", []):
            apply()
        send({"id": message["id"], "result": answer(name, message.get("params"))})
    elif name:
        notified(name, message.get("params"))
