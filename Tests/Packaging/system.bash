# The parts of the package test: the fresh system, the packages, an origin, and the daemon.
# shellcheck shell=bash
# shellcheck disable=SC2154 # the variables of Tests/Packaging/run

# Programs that the packages depend on, so that the system needs no network later.
dependencies=ca-certificates,systemd-standalone-sysusers,systemd-standalone-tmpfiles
case $suite in
    bookworm) dependencies+=,libcurl4 ;;
    *) dependencies+=,libcurl4t64 ;;
esac

new_system() {
    local kept=$bootstrap/$suite.tar
    if [[ ! -e $kept ]]; then
        mkdir -p "$bootstrap"
        rm -rf "${bootstrap:?}/$suite"
        debootstrap --variant=minbase --include="$dependencies" "$suite" "$bootstrap/$suite" "$mirror" \
            >"$bootstrap/$suite.log"
        rm -rf "$bootstrap/$suite"/var/cache/apt/archives/*.deb
        tar -c -C "$bootstrap/$suite" . -f "$kept.new"
        mv "$kept.new" "$kept"
        rm -rf "${bootstrap:?}/$suite"
    fi
    mkdir "$root"
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

enter=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot)
inside() { "${enter[@]}" "$root" "$@"; }
as_user() { "${enter[@]}" --userspec=nobody:nogroup "$root" "$@"; }
as_owner() { "${enter[@]}" --userspec=cached:cached "$root" "$@"; }
install_packages() { inside sh -c "dpkg -i /packages/$1/*.deb"; }

# An origin with one image; its log has a line for each request.
begin_origin() {
    mkdir "$work/origin"
    base64 -d <<<'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' \
        >"$work/origin/a.png"
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
