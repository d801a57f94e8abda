# Sourced by the scripts that start real object stores on loopback. They need no rights, no systemd and no fixed ports,
# and they end with the process that runs the script.
#
# The script has set `engine` and `directory`. BASE_PORT is the first of 200 free ports.
set -euo pipefail

access=cachedtest
secret=cached/test+secret=0 # '/', '+' and '=' on purpose: real secrets have them
bucket=images
region=us-east-1
base=${BASE_PORT:?is the first of 200 free ports}

say() { printf '%s: %s\n' "$engine" "$*" >&2; }

# launch NAME COMMAND...: the process ends with this script. setpriv(1), prctl(2)
launch() {
    local name=$1
    shift
    setpriv --pdeathsig KILL "$@" </dev/null >>"$directory/log/$name.log" 2>&1 &
    echo $! >"$directory/run/$name.pid"
}

is_running() { kill -0 "$(<"$1")" 2>/dev/null; }

# await SECONDS NAME COMMAND...: until the command succeeds. Fails as soon as one of the processes has ended.
await() {
    local limit=$1 name=$2 end
    shift 2
    end=$((SECONDS + limit))
    until "$@" >/dev/null 2>&1; do
        for file in "$directory"/run/*.pid; do
            if [[ -e $file ]] && ! is_running "$file"; then
                say "$(basename "$file" .pid) has ended while $name was awaited"
                tail -n 15 "$directory/log/$(basename "$file" .pid).log" >&2
                return 1
            fi
        done
        if ((SECONDS >= end)); then
            say "no $name within $limit s"
            return 1
        fi
        sleep 0.1
    done
}

# s3 METHOD PATH [OPTION...]: prints the status of a signed request.
s3() {
    local method=$1 path=$2
    shift 2
    curl -sS -m 5 -o /dev/null -w '%{http_code}\n' -X "$method" --user "$access:$secret" \
        --aws-sigv4 "aws:amz:$region:s3" -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' "$@" \
        "$endpoint$path"
}

has_bucket() {
    case $(s3 PUT "/$bucket") in
        200 | 409) return 0 ;;
        *) return 1 ;;
    esac
}

# The first object makes volumes or pools, which takes a second or two.
has_object() {
    printf x >"$directory/x"
    [[ $(s3 PUT "/$bucket/ready" -T "$directory/x") == 200 ]]
}

begin() { mkdir -p "$directory/run" "$directory/log"; }

# Tells who listens where, and waits for its own end.
serve() {
    await 30 bucket has_bucket
    await 30 "first object" has_object
    echo "ready $endpoint"
    wait
}
