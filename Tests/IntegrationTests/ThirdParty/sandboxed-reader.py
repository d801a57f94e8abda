"""Reads an image through the socket alone, twice: before and after the daemon starts again.

Usage: sandboxed-reader.py SOCKET URL. Prints the SHA-256 of the image each time.
"""

import hashlib
import json
import os
import socket
import sys
import time


def connect(path):
    """Connects; a daemon that starts again is not there for a moment."""
    for _ in range(1200):
        try:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            return connection
        except OSError as error:
            connection.close()
            last = error
            time.sleep(0.05)
    raise last


def read(path, url):
    with connect(path) as connection:
        call = {"method": "io.cached.Cache.Open", "parameters": {"url": url}}
        connection.sendall(json.dumps(call).encode() + b"\0")
        reply, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 1)
        item = json.loads(reply[:-1])["parameters"]["item"]
        if os.path.exists(item["path"]):
            sys.exit("the sandbox can see the directory")
        with open(descriptors[0], "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()


path, url = sys.argv[1:]
with connect(path) as daemon:
    print(read(path, url), flush=True)
    # Returns at the end of the daemon.
    daemon.recv(1)
print(read(path, url), flush=True)
