#!/bin/bash
# The parts of a demo: a slow origin, a daemon, and an end that leaves nothing behind. This file is
# sourced. A demo begins with `prepare`.

patience=20 # seconds until something that should happen at once counts as failed

# Daemons are in sbin, which is not in every user's path.
PATH=$PATH:/usr/sbin:/sbin

work=
daemon=
origin=

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

fail() {
    printf '\nDEMO FAILED: %s\n' "$*" >&2
    if [[ -s ${work:-/nonexistent}/cached.log ]]; then
        echo 'The log of the daemon:' >&2
        tail -n 20 "$work/cached.log" >&2
    fi
    exit 1
}

stop() {
    local pid=$1
    if [[ -z $pid ]]; then return 0; fi
    kill -TERM "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

clean_up() {
    stop "$daemon"
    stop "$origin"
    if [[ -n $work ]]; then rm -rf "$work"; fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Waits until a command succeeds; fails if a process ends first: wait_until PID WHAT COMMAND…
wait_until() {
    local pid=$1 what=$2 end=$((SECONDS + patience))
    shift 2
    until "$@"; do
        kill -0 "$pid" 2>/dev/null || fail "$what ended early"
        ((SECONDS < end)) || fail "$what was not ready after $patience seconds"
        sleep 0.05
    done
}

cachectl() {
    local command=$1
    shift
    "${plainly[@]}" "$bin/cachectl" "$command" --socket "$work/socket" "$@"
}

# Installs packages and builds, unless CACHED_BIN names the programs: prepare GROUP…
prepare() {
    if [[ -z ${CACHED_BIN:-} ]]; then
        say 'Installing missing packages'
        .ci/dependencies build "$@"
        say 'Building'
        make --no-print-directory build
    fi
    bin=$(cd "${CACHED_BIN:-.build/release}" && pwd)
    # Not /tmp: it can be a file system without extended attributes.
    work=$(mktemp -d /var/tmp/cached-demo.XXXXXX)
    mkdir "$work/nginx" "$work/cache"
    chmod 700 "$work/cache"
    # The caller's configuration and proxies must not change the result of the demo.
    plainly=(env -i PATH="$PATH" HOME="$work" LANG=C.UTF-8 TERM="${TERM:-dumb}")
}

is_listening() { (: >"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

serves() { grep -q 'event method' "$work/nginx/error.log" 2>/dev/null; }

# Serves a directory: start_origin DIRECTORY BYTES-PER-SECOND [LINES-FOR-THE-SERVER]
start_origin() {
    say "Serving $1 with $2 bytes a second for each connection"
    # Below the range of ports that the kernel assigns by itself.
    port=$((20000 + RANDOM % 10000))
    while is_listening "$port"; do port=$((20000 + RANDOM % 10000)); done
    cat >"$work/nginx/nginx.conf" <<EOF
daemon off;
master_process off;
pid nginx.pid;
error_log "$work/nginx/error.log" notice;
events { worker_connections 256; }
http {
    access_log "$work/nginx/access.log";
    types { image/png png; image/jpeg jpg; }
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    limit_rate $2;
    server {
        listen 127.0.0.1:$port;
        root "$1";
        ${3:-}
    }
}
EOF
    nginx -p "$work/nginx" -c "$work/nginx/nginx.conf" -e stderr 2>"$work/nginx/stderr" &
    origin=$!
    wait_until "$origin" nginx serves
    echo "http://127.0.0.1:$port/"
}

answers() {
    local code=0
    cachectl stats >/dev/null 2>&1 || code=$?
    ((code != 69 && code != 77))
}

start_daemon() {
    say 'Starting cached'
    echo '# The demo configures by flags only.' >"$work/cached.conf"
    "${plainly[@]}" "$bin/cached" --config "$work/cached.conf" \
        --directory "$work/cache" --socket "$work/socket" \
        --allow-network 127.0.0.0/8 2>"$work/cached.log" &
    daemon=$!
    wait_until "$daemon" cached answers
    echo "cached --directory $work/cache --socket $work/socket --allow-network 127.0.0.0/8"
}
