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
fetches() {
    local path
    path=$(as_user cachectl fetch "$url") &&
        cmp "$work/origin/a.png" "$root$path" &&
        as_user cachectl status "$url" &&
        as_user test -r "$path"
}
still_cached() { as_user cachectl status "$url" && [[ $(requests) == 1 ]]; }

files_before=$(cd "$root" && find . -xdev -path ./proc -prune -o -print | sort)
claim "an older version is installed" is_installed
claim "the account cannot log in" has_account
claim "the socket is enabled, and the timer of the metrics is not" has_units
claim "the folders of the cache and of the socket are there for all users" has_folders
claim "the daemon starts" begin_daemon
claim "another user fetches an image and opens it" fetches

# Libraries

program_with_the_library() {
    export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$root
    PKG_CONFIG_PATH=$(dirname "$(find "$root/usr/lib" -name cached.pc)")
    local flags
    flags=$(pkg-config --cflags --libs cached) || return
    # shellcheck disable=SC2086 # several words on purpose
    "${CC:-cc}" -x c - -o "$root/packages/name" -Wl,-rpath-link,"$root/usr/lib" $flags <<<'
#include <cached.h>
#include <stdio.h>
int main(int count, char **words) {
    char name[37];
    cached_name(words[1], name);
    puts(name);
    return count != 2;
}' || return
    [[ $(inside /packages/name "$url") == "$(inside cachectl name "$url")" ]]
}
program_in_python() {
    local path
    path=$(as_user python3 -c 'import sys, cached_client as c; print(c.Cache().get(sys.argv[1]).path)' "$url") &&
        cmp "$work/origin/a.png" "$root$path" &&
        [[ $(inside python3 -c 'from importlib.metadata import metadata as m; print(m("cached-client")["License"])') == Apache-2.0 ]]
}
library_goes() { mv "$root"/usr/lib/*/libcrypto.so.3 "$work/"; }
library_returns() { mv "$work/libcrypto.so.3" "$root"/usr/lib/*-linux-gnu/; }
# The command line fails with 72 and a message that names the library and the package.
fails_clearly() {
    local status=0 message
    message=$("$@" 2>&1) || status=$?
    echo "$status: $message"
    [[ $status == 72 && $message == *libcrypto.so.3*libssl3* && $message != *'Fatal error'* ]]
}
names_fail() { fails_clearly inside cachectl name "$url"; }
watch_fails() { fails_clearly as_user cachectl watch --until cached "$url"; }
lines_fail() { printf '\377\n' | fails_clearly as_user cachectl status -; }
status_works() { as_user cachectl status "$url"; }
daemon_says_so() {
    local message
    message=$(as_owner cached --directory /tmp/other --socket /tmp/other.sock 2>&1) && return 1
    echo "$message"
    [[ $message == *libcrypto.so.3* && $message != *'Fatal error'* ]]
}

claim "a C program finds the library through pkg-config" program_with_the_library
claim "a Python program fetches an image, and its library names its licence" program_in_python
library_goes
claim "without libcrypto, name says what to install" names_fail
claim "without libcrypto, watch says what to install" watch_fails
claim "without libcrypto, a line that is no URL leads to the same message" lines_fail
claim "without libcrypto, status works" status_works
claim "without libcrypto, the daemon names it and does not start" daemon_says_so
library_returns

# Completion, for the URLs in the cache of the running daemon

# Only the program itself: a shell of the fresh system may not run here.
programs=$work/programs
mkdir "$programs"
ln -s "$root/usr/bin/cachectl" "$programs/"
socket=$root/run/cached/cached.sock
# Prints the answers of bash at the end of a line, whose words are given as readline cuts them: at colons too.
bash_completes() {
    CACHED_SOCKET=$socket PATH=$programs:$PATH bash --norc -c '
        source /usr/share/bash-completion/bash_completion
        source "$1"
        COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=("${@:3}") COMP_CWORD=$(($# - 3))
        _cachectl_whole_words cachectl "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
        printf "%s\n" "${COMPREPLY[@]}"' - "$root/usr/share/bash-completion/completions/cachectl" "$@"
}
bash_offers_urls() {
    local line='cachectl status'
    [[ $(bash_completes "$line htt" cachectl status htt) == "$url" ]] &&
        [[ $(bash_completes "$line http://127" cachectl status http : //127) == "${url#http:}" ]] &&
        [[ $(bash_completes "cachectl show http://127" cachectl show http : //127) == "${url#http:}" ]] &&
        [[ $(bash_completes "$line ${url%/*}" cachectl status http : //127.0.0.1 : "$port") == "$port/a.png" ]] &&
        [[ $(bash_completes "$line '$url" cachectl status "'$url") == "$url" ]] &&
        [[ $(bash_completes 'cachectl stat' cachectl stat) == $'status\nstats' ]]
}
# What the completion scripts of other shells ask the program.
program_offers_urls() {
    CACHED_SOCKET=$socket SAP_SHELL=$1 "$programs/cachectl" ---completion status -- positional@0 2 7 \
        cachectl status http://
}
fish_offers_urls() {
    fish --no-config --no-execute "$root/usr/share/fish/vendor_completions.d/cachectl.fish" &&
        [[ $(program_offers_urls fish) == "$url" ]]
}
zsh_offers_urls() {
    zsh -n "$root/usr/share/zsh/vendor-completions/_cachectl" &&
        [[ $(program_offers_urls zsh) == "${url//:/\\:}"$'\n ' ]]
}
nothing_without_a_daemon() {
    local answers
    answers=$(program_offers_urls fish 2>&1) && [[ -z $answers ]]
}

claim "bash completes the URLs of cached images" bash_offers_urls
claim "fish completes the URLs of cached images" fish_offers_urls
claim "zsh completes the URLs of cached images" zsh_offers_urls
socket=/nonexistent claim "without a daemon the completion is silent" nothing_without_a_daemon

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

removed() { inside dpkg -r libcached-dev libcached0 cached-deriver cached-gallery cached && [[ ! -e $root/usr/bin/cached ]]; }
kept_after_removal() { [[ -n $(find "$root/var/cache/cached" -name '*-*' -size "$(stat -c %s "$work/origin/a.png")c") ]]; }
answers_after_removal() {
    cp "$output/kept-cachectl" "$root/packages/cachectl" && as_user /packages/cachectl status "$url"
}
purged() { inside dpkg -P libcached-dev libcached0 cached-deriver cached-gallery cached; }
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
