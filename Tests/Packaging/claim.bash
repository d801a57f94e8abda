# One line for each claim: ok or not ok, and then why.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # the variables of the scripts that read this

failures=0
# Runs a command, and reports whether the claim before it holds.
claim() {
    local text=$1
    shift
    if "$@" >"$work/claim.log" 2>&1; then
        echo "ok - $text"
    else
        echo "not ok - $text"
        sed 's/^/    /' "$work/claim.log" | tail -n 30
        failures=$((failures + 1))
    fi
}
