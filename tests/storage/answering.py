"""What the servers of at_aws.py and trust.py answer with."""
import re
from http.server import BaseHTTPRequestHandler


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def say(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def say_object(self, body):
        """The bytes that are asked for, or all."""
        span = re.match(r"bytes=(\d+)-(\d+)$", self.headers.get("Range", ""))
        if not span:
            return self.say(200, body, {"ETag": '"1"'})
        begin, end = int(span[1]), min(int(span[2]) + 1, len(body))
        return self.say(206, body[begin:end], {"ETag": '"1"', "Content-Range": f"bytes {begin}-{end - 1}/{len(body)}"})
