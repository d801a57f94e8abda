"""The servers that cached is compared with, on Unix sockets if they support them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import urllib.request
from pathlib import Path

from .generator import Target
from .session import Session, accepts_tcp, accepts_unix, free_port, require

# About as long as an item of a status reply.
ANSWER = "x" * 300

NGINX = """\
{user}
worker_processes 1;
daemon off;
pid {root}/nginx.pid;
error_log {root}/nginx.log;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    sendfile on;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
    types {{ image/png png; }}
    client_body_temp_path {root}/nginx-body;
    proxy_temp_path {root}/nginx-proxy;
    fastcgi_temp_path {root}/nginx-fastcgi;
    uwsgi_temp_path {root}/nginx-uwsgi;
    scgi_temp_path {root}/nginx-scgi;
    server {{
        listen unix:{root}/nginx.sock;
        listen 127.0.0.1:{port} backlog=4096;
        listen 127.0.0.1:{secure_port} ssl http2 backlog=4096;
        ssl_certificate {root}/nginx.crt;
        ssl_certificate_key {root}/nginx.key;
        default_type application/json;
        location / {{ root {root}/origin; }}
        location /status/ {{ return 200 "{answer}"; }}
    }}
}}
"""


class Nginx:
    """One worker that answers `/status/` from its configuration and is the origin of all downloads."""

    def __init__(self, session: Session) -> None:
        program = require("nginx")
        root = session.directory
        self.socket = root / "nginx.sock"
        self.port = free_port()
        self.secure_port = free_port()
        self.certificate = certificate(root)
        # The worker of root would otherwise be a user that can't enter the directory.
        user = "user root;" if os.geteuid() == 0 else ""
        config = root / "nginx.conf"
        config.write_text(NGINX.format(
            user=user, root=root, port=self.port, secure_port=self.secure_port, answer=ANSWER))
        session.start(
            "nginx", [program, "-p", str(root), "-c", str(config), "-e", str(root / "nginx.log")],
            lambda: accepts_unix(self.socket) and accepts_tcp(self.port))

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def secure_base(self) -> str:
        """Over TLS and HTTP/2; clients must trust `certificate`."""
        return f"https://127.0.0.1:{self.secure_port}"

    def target(self, session: Session, count: int) -> Target:
        """As many different paths as there are URLs for cached."""
        lines = session.directory / "nginx.urls"
        lines.write_text("".join(f"{self.base}/status/{n:06}.png\n" for n in range(count)))
        return Target(f"unix:{self.socket}", "http", lines)


def certificate(root: Path) -> Path:
    """A self-signed certificate for 127.0.0.1; its key is beside it."""
    path = root / "nginx.crt"
    subprocess.run(
        [require("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=origin", "-days", "2",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(root / "nginx.key"),
         "-out", str(path)],
        check=True, stderr=subprocess.DEVNULL)
    return path


class Redis:
    """An in-memory store without persistence that has an answer for every URL."""

    def __init__(self, session: Session, urls: list[str]) -> None:
        program = require("redis-server")
        self.socket = session.directory / "redis.sock"
        session.start(
            "redis",
            [program, "--port", "0", "--unixsocket", str(self.socket), "--save", "",
             "--appendonly", "no", "--dir", str(session.directory)],
            lambda: accepts_unix(self.socket))
        self.fill(urls)

    def fill(self, urls: list[str]) -> None:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(self.socket))
            answers = client.makefile("rb")
            for url in urls:
                client.sendall(f"SET {url} {ANSWER}\r\n".encode())
                answers.readline()

    def target(self, lines: Path) -> Target:
        return Target(f"unix:{self.socket}", "redis", lines)


class Aria2:
    """The only download daemon among the peers: paused downloads whose status is requested."""

    def __init__(self, session: Session) -> None:
        program = require("aria2c")
        self.port = free_port()
        session.start(
            "aria2",
            [program, "--no-conf", "--quiet", "--enable-rpc", "--pause",
             f"--rpc-listen-port={self.port}", f"--dir={session.directory}"],
            lambda: accepts_tcp(self.port))
        self.gids = session.directory / "aria2.gids"
        self.gids.write_text("".join(f"{self.add(number)}\n" for number in range(100)))

    def add(self, number: int) -> str:
        call = {"jsonrpc": "2.0", "id": "b", "method": "aria2.addUri",
                "params": [[f"http://127.0.0.1:9/{number}.png"]]}
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/jsonrpc", data=json.dumps(call).encode())
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.load(answer)["result"]

    @property
    def target(self) -> Target:
        return Target(f"tcp:127.0.0.1:{self.port}", "aria2", self.gids)


class Echo:
    """A NIO server that does nothing: the minimum for any server built on NIO."""

    def __init__(self, session: Session, program: Path) -> None:
        self.socket = session.directory / "echo.sock"
        session.start(
            "echo", [str(program), "echo-server", str(self.socket)],
            lambda: accepts_unix(self.socket))

    def target(self, lines: Path) -> Target:
        return Target(f"unix:{self.socket}", "echo", lines)
