# s3-swift: another S3 store that checks signatures: OpenStack Swift with s3api (by pip; 80 MB)
# shellcheck shell=bash disable=SC2034,SC2153 # common.sh reads and sets what seems unused and misspelt
#
# Proxy, account, container and object server, one process each, one copy of everything. The file system of the
# server's folder must have extended attributes.
SWIFT=2.38.3
SWIFT_BIN=$CACHE/swift-$SWIFT/bin
REGION=us-east-1
KEY=test:writer # Swift's ACCOUNT:USER
server_ports=4

server_install() {
    need_command curl curl
    fetch_venv swift-$SWIFT swift==$SWIFT pyeclib==1.8.0 eventlet==0.41.3 greenlet==3.5.6 dnspython==2.9.2 \
        xattr==1.3.0 lxml==6.1.3 PasteDeploy==3.1.0 requests==2.34.2 cryptography==50.0.2
}

common_conf() { # common_conf PORT; nothing listens where the cache should be: it is not needed
    cat <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $1
workers = 0
user = $(id -un)
swift_dir = $RUN/etc
devices = $RUN/data
mount_check = false
fallocate_reserve = 0
log_level = ERROR
CONF
}

proxy_conf() {
    common_conf "$1"
    cat <<CONF
[pipeline:main]
pipeline = catch_errors healthcheck cache s3api tempauth slo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:9
[filter:s3api]
use = egg:swift#s3api
location = $REGION
[filter:tempauth]
use = egg:swift#tempauth
user_${KEY/:/_} = $2 .admin
[filter:slo]
use = egg:swift#slo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
CONF
}

store_conf() { # store_conf account|container|object PORT
    common_conf "$2"
    printf '%s\n' '[pipeline:main]' "pipeline = $1-server" "[app:$1-server]" "use = egg:swift#$1"
}

make_rings() { # which server has what: one device has everything
    "$SWIFT_BIN/python" - "$RUN/etc" "account=$PORT_2" "container=$PORT_3" "object=$PORT_4" <<'PY'
import array
import sys

from swift.common.ring.ring import RingData

for ring in sys.argv[2:]:
    name, port = ring.split("=")
    device = {"id": 0, "region": 1, "zone": 1, "ip": "127.0.0.1", "port": int(port), "device": "disk", "weight": 1.0,
              "meta": "", "replication_ip": "127.0.0.1", "replication_port": int(port)}
    RingData([array.array("H", [0] * 16)], [device], 32 - 4).save(f"{sys.argv[1]}/{name}.ring.gz")
PY
}

server_make() {
    local secret
    secret=$(random_hex 20)
    save SECRET "$secret"
    mkdir -p "$RUN/etc" "$RUN/data/disk"
    printf '[swift-hash]\nswift_hash_path_suffix = %s\n' "$(random_hex 8)" >"$RUN/etc/swift.conf"
    make_rings >&2
    proxy_conf "$PORT" "$secret" >"$RUN/etc/proxy.conf"
    store_conf account "$PORT_2" >"$RUN/etc/account.conf"
    store_conf container "$PORT_3" >"$RUN/etc/container.conf"
    store_conf object "$PORT_4" >"$RUN/etc/object.conf"
}

server_run() {
    local part
    for part in account container object proxy; do
        SWIFT_DIR=$RUN/etc daemon $part "$SWIFT_BIN/python" "$SWIFT_BIN/swift-$part-server" "$RUN/etc/$part.conf" -v
    done
}

server_ready() { # the parts refuse what has no path of theirs, but they answer
    local port
    for port in "$PORT_2" "$PORT_3" "$PORT_4"; do
        curl -sS "http://127.0.0.1:$port/" || return 1
    done
    curl -fsS "http://127.0.0.1:$PORT/healthcheck"
}

server_fill() { # a colon in a key: only a URL can hold it
    printf 'url = "http://%s:%s@127.0.0.1:%s/imrec-test"\n' "${KEY/:/%3A}" "$SECRET" "$PORT" |
        curl -fsS -K - --aws-sigv4 "aws:amz:$REGION:s3" -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' -X PUT >&2
}

server_variables() {
    variable AWS_ACCESS_KEY_ID "$KEY"
    variable AWS_SECRET_ACCESS_KEY "$SECRET"
    variable AWS_REGION $REGION
    variable AWS_ENDPOINT_URL "http://127.0.0.1:$PORT"
    echo "unset AWS_SESSION_TOKEN AWS_PROFILE AWS_ENDPOINT_URL_S3"
    variable IMREC_TEST_BUCKET s3://imrec-test
}
