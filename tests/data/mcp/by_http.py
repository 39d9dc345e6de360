"""The server of server.py by HTTP, on a port of loopback that it writes into the file `port`.

by_http.py ERA FOLDER [FAULT]: each request's headers are a line of `headers`. It refuses what a real server of its era refuses: a
session that it has not begun (earlier), headers that do not agree with the message (modern). FAULT: a status (`401`, `403`, `404`,
`429`, `500`), `redirect`, `html`, `huge`, `silent`, `events` (answers as a stream of events), `cut` (a stream that ends before the answer
to a call), `forgets` (the session ends once, at the first call).
"""

import http.server
import json
import os
import sys
import threading
import time

import server
from server import era, fault, note

forgotten = threading.Event()
LIMIT = 64 << 20


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", kind=None, **headers):
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin_events(self):
        self.send_response(200)
        self.send_header("Mcp-Session-Id", "session-1")
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, message):
        self.wfile.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")
        self.wfile.flush()

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        note("ended", self.headers.get("Mcp-Session-Id", ""))
        self.reply(200)

    def is_refused(self, request):
        """Whether the message does not agree with its headers."""
        version, method = self.headers.get("MCP-Protocol-Version"), request.get("method")
        if era == "modern":
            name = (request.get("params") or {}).get("name")
            agrees = self.headers.get("Mcp-Method") == method and self.headers.get("Mcp-Name") == name
            return not agrees or version != "2026-07-28"
        has_session = self.headers.get("Mcp-Session-Id") == "session-1"
        return method != "initialize" and (not has_session or version != "2025-11-25")

    def wrong(self, request):
        """Answers as the fault says. Says whether it has answered."""
        if fault.isdigit():
            status = int(fault)
            self.reply(status, b"who are you?", "text/plain", **({"WWW_Authenticate": "Bearer"} if status == 401 else {}))
        elif fault == "redirect":
            self.reply(307, Location="http://elsewhere.test/mcp?token=1")
        elif fault == "html":
            self.reply(200, b"<html>Log in</html>", "text/html")
        elif fault == "silent":
            time.sleep(60)
        elif fault == "huge" and request.get("method") == "tools/call":
            self.reply(200, b'"' + b"x" * LIMIT + b'"', "application/json")
        elif fault == "cut" and request.get("method") == "tools/call":
            self.begin_events()
            self.wfile.write(b"event: message\ndata: {\"jsonr")
        elif fault == "forgets" and request.get("method") == "tools/call" and not forgotten.is_set():
            forgotten.set()
            self.reply(404, b"no such session", "text/plain")
        else:
            return False
        return True

    def waits(self, request):
        """Waits for the file `go` or for the cancelling of the call, whatever comes first."""
        self.begin_events()
        while not os.path.exists(os.path.join(server.folder, "go")):
            try:
                self.wfile.write(b": waiting\n\n")
                self.wfile.flush()
            except OSError:
                note("cancelled", "closed")
                return
            time.sleep(0.01)
        self.event({"jsonrpc": "2.0", "id": request["id"], "result": server.text("It is here.")})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        note("headers", json.dumps(dict(self.headers)))
        if request.get("method") == "notifications/cancelled":
            note("cancelled", json.dumps(request))
        if self.wrong(request):
            return
        if "method" not in request:
            self.reply(202)
            return
        id = request.get("id")
        if self.is_refused(request):
            error = {"code": -32600, "message": "the headers do not agree with the message"}
            self.reply(400, json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode(), "application/json")
            return
        if request["method"] == "tools/call" and request["params"]["name"] == "wait":
            note("asked", json.dumps(request))
            self.waits(request)
            return
        try:
            message = {"result": server.answer(request)}
        except ValueError as why:
            message = {"error": {"code": -32601, "message": str(why)}}
        if id is None:
            self.reply(202)
            return
        message = {"jsonrpc": "2.0", "id": id, **message}
        if fault == "events":
            self.begin_events()
            self.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "works"}})
            self.event(message)
            return
        self.reply(200, json.dumps(message).encode(), "application/json", Mcp_Session_Id="session-1")


it = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
it.daemon_threads = True
# a client that goes away is no fault
it.handle_error = lambda *_: None
place = os.path.join(server.folder, "port")
with open(place + ".new", "w") as file:
    file.write(str(it.server_address[1]))
os.rename(place + ".new", place)
it.serve_forever()
