# The parts of the tests in a fresh system: the system, the packages, an origin, and the daemon.
# shellcheck shell=bash

mirror=${MIRROR:-http://deb.debian.org/debian}
bootstrap=.build-debootstrap
output=.build-deb
old_version=0.0.9
export LC_ALL=C.UTF-8

# Repeats a script for Debian 12 and 13, or for the release that SUITE names, and returns only there. All processes
# and mounts are in namespaces of their own, and the folder is removed outside of them: begin SCRIPT "$@"
begin() {
    if [[ ${2:-} == --inside ]]; then
        suite=$3
        work=$4
        root=$work/root
        # What the packages depend on, so that the system needs no network later.
        runtime_packages=ca-certificates,python3,libcurl4
        if [[ $suite != bookworm ]]; then runtime_packages+=t64; fi
        return
    fi
    if [[ $EUID -ne 0 ]]; then
        echo "$1: skipped, it needs root for a chroot"
        exit 0
    fi
    local suite folder failed=()
    # Not /tmp, which can be in memory.
    folder=$(mktemp -d -p /var/tmp cached-system.XXXXXX)
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -rf '$folder'" EXIT
    for suite in ${SUITE:-bookworm trixie}; do
        mkdir "$folder/$suite"
        unshare --mount --pid --fork --kill-child --mount-proc -- \
            "$1" --inside "$suite" "$folder/$suite" || failed+=("$suite")
        rm -rf "${folder:?}/$suite"
    done
    if ((${#failed[@]})); then
        echo "$1: failed on ${failed[*]}"
        exit 1
    fi
    exit 0
}

# Unpacks the system, with the given packages besides the smallest set, which needs the network the first time:
# new_system NAME [PACKAGE,...]
new_system() {
    local kept=$bootstrap/$suite-$1.tar new=$bootstrap/$suite-$1
    if [[ ! -e $kept ]]; then
        mkdir -p "$bootstrap"
        rm -rf "$new"
        debootstrap --variant=minbase ${2:+--include="$2"} "$suite" "$new" "$mirror" >"$new.log"
        rm -rf "$new"/var/cache/apt/archives/*.deb
        tar -c -C "$new" . -f "$kept.new"
        mv "$kept.new" "$kept"
        rm -rf "$new"
    fi
    mkdir "$root"
    mount --bind "$root" "$root"
    tar -x -C "$root" -f "$kept"
    mount -t proc proc "$root/proc"
}

# The version before is made of the same programs with another number.
build_packages() {
    rm -rf "$output"
    packaging/deb "$output/new" >/dev/null
    COMPRESSION='-Zgzip -z1' packaging/deb "$output/old" "$old_version" >/dev/null
    mkdir "$root/packages"
    cp -r "$output"/{new,old} "$root/packages/"
}

enter=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot)
inside() { "${enter[@]}" "$root" "$@"; }
as_user() { "${enter[@]}" --userspec=nobody:nogroup "$root" "$@"; }
as_owner() { "${enter[@]}" --userspec=cached:cached "$root" "$@"; }
# Without those for GTK and Qt, which need hundreds of MB; their own tests run what is in them.
install_packages() { inside sh -c "dpkg -i \$(ls /packages/$1/*.deb | grep -v -e qml -e gtk)"; }

# An origin with a small and a large image; its log has a line for each request.
begin_origin() {
    mkdir "$work/origin"
    base64 -d <<<'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' \
        >"$work/origin/a.png"
    python3 - "$work/origin/large.png" <<'IMAGE'
import struct, sys, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
head = struct.pack(">IIBBBBB", 512, 512, 8, 0, 0, 0, 0)
body = zlib.compress(bytes(513 * 512))
with open(sys.argv[1], "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b""))
IMAGE
    exec {origin_output}< <(exec python3 -u Tests/Packaging/origin "$work/origin" 2>"$work/origin.log")
    read -r port <&"$origin_output"
    url=http://127.0.0.1:$port/a.png
}
requests() { grep -c 'GET /a.png' "$work/origin.log" || true; }

# Starts the daemon of the whole machine, as its unit does, and waits until it listens.
begin_daemon() {
    exec {daemon_log}< <(exec "${enter[@]}" --userspec=cached:cached "$root" cached --directory /var/cache/cached \
        --socket /run/cached/cached.sock --socket-mode 666 --allow-network 127.0.0.0/8 2>&1)
    daemon=$!
    local line
    while read -r -t 20 -u "$daemon_log" line; do
        echo "$line"
        if [[ $line == *'listening'* ]]; then return 0; fi
    done
    echo "the daemon does not listen"
    return 1
}
end_daemon() {
    local status=0
    kill -TERM "$daemon"
    wait "$daemon" || status=$?
    cat <&"$daemon_log"
    exec {daemon_log}<&-
    ((status == 0)) || echo "the daemon ended with $status"
    return "$status"
}
restart_daemon() { end_daemon && begin_daemon; }
