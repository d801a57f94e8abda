"""The origin of the fleet: nginx, whose log is what the origin was asked."""

from __future__ import annotations

import collections
import os
from pathlib import Path

from ..origin import MEDIUM, Origin
from ..session import Session, accepts_tcp, free_port, require

NGINX = """\
{user}
worker_processes 1;
daemon off;
pid {root}/nginx.pid;
error_log {root}/nginx.log;
events {{ worker_connections 4096; }}
http {{
    log_format short "$uri $status";
    access_log {root}/requests.log short;
    types {{ image/png png; }}
    client_body_temp_path {root}/nginx-body;
    proxy_temp_path {root}/nginx-proxy;
    fastcgi_temp_path {root}/nginx-fastcgi;
    uwsgi_temp_path {root}/nginx-uwsgi;
    scgi_temp_path {root}/nginx-scgi;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location /images/ {{
            root {root}/origin;
            add_header Cache-Control "public, max-age={lifetime}";
        }}
    }}
    server {{
        listen 127.0.0.1:{slow_port} backlog=4096;
        # The pause before this answer is the only one that nginx knows.
        location / {{
            auth_basic wait;
            auth_basic_user_file /dev/null;
            auth_delay {delay}ms;
            error_page 401 =200 @slow;
        }}
        location @slow {{
            root {root}/origin;
            add_header Cache-Control "public, max-age=86400";
        }}
    }}
}}
"""


class FleetOrigin:
    #: Seconds until an image of `slow` comes.
    DELAY = 0.5

    def __init__(self, session: Session, count: int, lifetime: int, slow: int) -> None:
        root = session.directory
        (root / "origin").mkdir()
        port, slow_port = free_port(), free_port()
        # The worker of root would otherwise be a user that can't enter the directory.
        user = "user root;" if os.geteuid() == 0 else ""
        config = root / "nginx.conf"
        config.write_text(NGINX.format(
            user=user, root=root, port=port, slow_port=slow_port, lifetime=lifetime,
            delay=round(1000 * self.DELAY)))
        images = Origin(root / "origin/images", count, MEDIUM)
        slow_images = Origin(root / "origin/slow", slow, MEDIUM)
        self.log = root / "requests.log"
        session.start(
            "nginx", [require("nginx"), "-p", str(root), "-c", str(config),
                      "-e", str(root / "nginx.log")],
            lambda: accepts_tcp(port))
        self.urls = images.urls(f"http://127.0.0.1:{port}") + slow_images.urls(
            f"http://127.0.0.1:{slow_port}")

    def answers(self, skipping: int = 0) -> collections.Counter[tuple[str, int]]:
        """How often each path was answered with each status."""
        lines = Path(self.log).read_text().splitlines()[skipping:]
        pairs = (line.split() for line in lines)
        return collections.Counter((path, int(status)) for path, status in pairs)
