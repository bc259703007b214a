"""web_server.py - an HTTP server of the current directory on 127.0.0.1, for tests. It prints its port.

It answers requests for byte ranges, unless the path begins with /plain/. With /cut/, the connection ends in the middle of
the file.

SPDX-License-Identifier: MIT"""
import http.server
import os
import re


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        kind, path = re.match(r"/((?:plain|cut)(?=/))?/?(.*)", self.path).groups()
        if not os.path.isfile(path):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        with open(path, "rb") as f:
            data = f.read()
        asked = re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("Range", ""))
        beg, end = 0, len(data)
        if asked and not kind:
            beg = int(asked[1])
            end = min(end, int(asked[2]) + 1) if asked[2] else end
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {beg}-{end - 1}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(end - beg))
        self.end_headers()
        try:
            self.wfile.write(data[beg:end] if kind != "cut" else data[: end // 2])
        except OSError:  # the client has what it wants
            kind = "cut"
        self.close_connection = kind == "cut"

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
