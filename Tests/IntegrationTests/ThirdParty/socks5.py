"""A SOCKS5 proxy (RFC 1928, RFC 1929) that leads every name to 127.0.0.1.

    socks5.py [USER:PASSWORD]

Prints "port" and its number, then a line for each connection: the host as the client named it.
"""

import socket
import socketserver
import sys
import threading

LOGIN = sys.argv[1].split(":", 1) if len(sys.argv) > 1 else None


class Handler(socketserver.StreamRequestHandler):
    def text(self):
        return self.rfile.read(self.rfile.read(1)[0])

    def handle(self):
        self.rfile.read(1)
        methods = self.text()
        method = 2 if LOGIN else 0
        if method not in methods:
            return self.wfile.write(b"\x05\xff")
        self.wfile.write(bytes([5, method]))
        if LOGIN:
            self.rfile.read(1)
            given = [self.text().decode(), self.text().decode()]
            self.wfile.write(bytes([1, 0 if given == LOGIN else 1]))
            if given != LOGIN:
                return
        request = self.rfile.read(4)
        if len(request) < 4:
            return
        kind = request[3]
        host = socket.inet_ntoa(self.rfile.read(4)) if kind == 1 else self.text().decode()
        port = int.from_bytes(self.rfile.read(2), "big")
        print(host, flush=True)
        with socket.create_connection(("127.0.0.1", port)) as origin:
            self.wfile.write(b"\x05\0\0\x01" + b"\0" * 6)
            threading.Thread(target=self.copy, args=(origin, self.connection), daemon=True).start()
            self.copy(self.rfile, origin)

    @staticmethod
    def copy(source, target):
        read = source.recv if hasattr(source, "recv") else source.read1
        while data := read(65536):
            target.sendall(data)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


with Server(("127.0.0.1", 0), Handler) as server:
    print("port", server.server_address[1], flush=True)
    server.serve_forever()
