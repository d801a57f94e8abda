# The claims about an installed package whose daemon runs. debian/tests runs them on a system of its own.
# shellcheck shell=bash
# shellcheck disable=SC2154 # the variables of the scripts that read this

fetches() {
    local path
    path=$(as_user cachectl fetch "$url") &&
        cmp "$work/origin/a.png" "$root$path" &&
        as_user cachectl status "$url" &&
        as_user test -r "$path"
}

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
