"""https_folder.py FOLDER - serves a folder over https, with ranges, by FOLDER/cert.pem and key.pem; prints its port."""
import http.server
import os
import re
import ssl
import sys

os.chdir(sys.argv[1])


class Ranges(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        try:
            with open("." + self.path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        begin, end = (int(found[1]), min(int(found[2] or len(data)) + 1, len(data))) if found else (0, len(data))
        self.send_response(206 if found else 200)
        if found:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(data)}")
        self.send_header("Content-Length", str(end - begin))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data[begin:end])

    def do_HEAD(self):
        self.do_GET()

    def log_message(self, *what):
        pass


server = http.server.ThreadingHTTPServer(("localhost", 0), Ranges)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
