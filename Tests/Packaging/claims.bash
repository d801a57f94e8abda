# The claims of the package test, in the order of a package's life.
# Each is a condition, so that `set -e` does not apply inside: the steps are joined by &&.
# shellcheck shell=bash
# shellcheck disable=SC2154 # the variables of Tests/Packaging/run and system.bash

# The packages as files

no_complaints() { lintian --allow-root --fail-on error,warning "$output"/new/*.deb; }
at_most_8_megabytes() {
    local size
    size=$(stat -c %s "$output"/new/cached_*.deb)
    echo "cached.deb has $size bytes"
    ((size <= 8000000))
}
names_libcrypto() {
    dpkg-deb -f "$output"/new/cached_*.deb Depends | tee /dev/stderr | grep -E '\blibssl3(t64)?\b'
}
same_files_in_the_tarball() {
    local name
    packaging/tarball "$work/tarball" || return
    for name in usr/bin/cached usr/bin/cachectl usr/bin/cached-gallery usr/libexec/cached/cached-deriver usr/lib/libcached.so.0 usr/include/cached.h \
        usr/share/man/man8/cached.8 usr/share/varlink/io.cached.Cache.varlink; do
        tar -t -f "$work"/tarball/*.tar.xz | grep -x "./$name" || return
    done
}
resolves_without_network() {
    packaging/dist "$work/dist" && tar -x -C "$work/dist" -f "$work"/dist/*.tar.xz &&
        (cd "$work"/dist/cached-*/ && unshare --net env HOME="$work/dist" swift package resolve)
}
folder_without_root() {
    local folder="$work/a folder"
    mkdir "$folder" &&
        PREFIX=$folder/local packaging/install .build/release .build/libcached .build/cached-gtk .build/cached-qml &&
        "$folder/local/bin/cachectl" name http://a.example/b.png &&
        grep -x "libdir=$folder/local/lib" "$folder/local/lib/pkgconfig/cached.pc" &&
        PREFIX=$folder/local packaging/install --uninstall &&
        [[ -z $(find "$folder/local" -mindepth 1 | tee /dev/stderr) ]]
}

claim "lintian has no error and no warning" no_complaints
claim "the package has at most 8 MB" at_most_8_megabytes
claim "the package depends on libcrypto, which is loaded by name" names_libcrypto
claim "the tarball has the same files" same_files_in_the_tarball
if [[ -d .git || -f .git ]]; then
    claim "the source archive resolves its packages without a network" resolves_without_network
fi
claim "a folder is enough for make install, and make uninstall leaves nothing" folder_without_root

# Installation and use

is_installed() { install_packages old && inside cached --version; }
has_account() { inside sh -c 'id cached && ! getent shadow cached | grep -q ":[$]"'; }
# systemd.unit(5): a unit is enabled by a link in the folder of what wants it.
is_enabled() { [[ -L $root/etc/systemd/system/$1.wants/$2 ]]; }
has_units() { is_enabled sockets.target cached.socket && ! is_enabled timers.target cached-metrics.timer; }
has_folders() {
    [[ $(stat -c '%U %a' "$root/var/cache/cached") == "$(owner_name) 755" ]] &&
        [[ $(stat -c '%U %a' "$root/run/cached") == "$(owner_name) 755" ]]
}
# Outside, the number of the account belongs to nobody or to another account.
owner_name() { stat -c %U "$root/var/cache/cached"; }
still_cached() { as_user cachectl status "$url" && [[ $(requests) == 1 ]]; }

files_before=$(cd "$root" && find . -xdev -path ./proc -prune -o -print | sort)
claim "an older version is installed" is_installed
claim "the account cannot log in" has_account
claim "the socket is enabled, and the timer of the metrics is not" has_units
claim "the folders of the cache and of the socket are there for all users" has_folders
claim "the daemon starts" begin_daemon
# shellcheck source=Tests/Packaging/use.bash
source Tests/Packaging/use.bash
derives() {
    as_user cachectl fetch --json "${url%a.png}large.png#side=128" | tee /dev/stderr | grep '"width":128'
}
claim "a smaller image is derived" derives

# Upgrade and downgrade, with the daemon running

upgraded() { install_packages new && restart_daemon && still_cached; }
downgraded() { install_packages old && restart_daemon && still_cached; }
keeps_configuration() {
    local file=$root/etc/cached/cached.conf
    if [[ ! -e $file ]]; then
        echo "the package has no configuration file"
        return 0
    fi
    echo '# mine' >>"$file"
    install_packages new && grep -x '# mine' "$file"
}
# The administrator enables it by hand; an upgrade neither undoes that nor forgets it.
keeps_timer() {
    inside ln -s /lib/systemd/system/cached-metrics.timer /etc/systemd/system/timers.target.wants/ &&
        install_packages old && install_packages new && is_enabled timers.target cached-metrics.timer
}
installed_again() { install_packages new && install_packages new && still_cached; }

claim "an upgrade keeps the cache" upgraded
claim "a downgrade keeps the cache" downgraded
claim "an upgrade keeps a changed configuration" keeps_configuration
claim "an upgrade keeps the timer of the metrics that was enabled" keeps_timer
claim "a second installation of the same version changes nothing" installed_again

# The end

installed=(libcached-dev libcached0 cached-deriver cached-gallery python3-cached-client cached)
removed() { inside dpkg -r "${installed[@]}" && [[ ! -e $root/usr/bin/cached ]]; }
kept_after_removal() { [[ -n $(find "$root/var/cache/cached" -name '*-*' -size "$(stat -c %s "$work/origin/a.png")c") ]]; }
answers_after_removal() {
    cp "$output/kept-cachectl" "$root/packages/cachectl" && as_user /packages/cachectl status "$url"
}
purged() { inside dpkg -P "${installed[@]}"; }
cache_is_gone() { [[ ! -e $root/var/cache/cached && ! -e $root/etc/cached && ! -e $root/run/cached ]]; }
nothing_is_left() {
    local left
    # The lists of dpkg, of accounts and of the loader change; the packages and the account remain on purpose.
    left=$(comm -13 <(echo "$files_before") <(cd "$root" && find . -xdev -path ./proc -prune -o -print | sort) |
        grep -vE '^\./(packages|var/lib/dpkg|var/cache/ldconfig|var/log|etc/(passwd|group|shadow|gshadow)-?$)' || true)
    echo "$left"
    [[ -z $left ]]
}
installed_after_purge() { install_packages new && has_folders && begin_daemon && fetches && end_daemon; }

cp "$root/usr/bin/cachectl" "$output/kept-cachectl"
claim "the packages are removed while the daemon runs" removed
claim "removal keeps the cache" kept_after_removal
claim "the daemon that still runs answers" answers_after_removal
claim "a purge while the daemon runs succeeds" purged
claim "a purge removes the cache, the socket and the configuration" cache_is_gone
claim "the daemon that lost its folders still ends as it should" end_daemon
claim "nothing but the account is left" nothing_is_left
claim "an installation after a purge works" installed_after_purge
