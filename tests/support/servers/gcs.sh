# gcs: Google's store: fake-gcs-server, on a folder (by Go; 34 MB); asks for no key, writes and lists without pages
# shellcheck shell=bash
FAKE_GCS=v1.56.1

server_install() {
    need_command curl curl
    fetch_go fake-gcs-server github.com/fsouza/fake-gcs-server $FAKE_GCS 26
}

server_make() { mkdir "$RUN/data"; }

server_run() {
    daemon fake-gcs-server "$CACHE/fake-gcs-server-$FAKE_GCS/fake-gcs-server" -scheme http -host 127.0.0.1 \
        -port "$PORT" -public-host "127.0.0.1:$PORT" -external-url "http://127.0.0.1:$PORT" -backend filesystem \
        -filesystem-root "$RUN/data" -log-level warn
}

server_ready() { curl -fsS "http://127.0.0.1:$PORT/_internal/healthcheck"; }

server_fill() {
    curl -fsS -H 'Content-Type: application/json' -d '{"name": "imrec-test"}' \
        "http://127.0.0.1:$PORT/storage/v1/b?project=imrec" >"$RUN/bucket.json"
}

server_variables() {
    variable STORAGE_EMULATOR_HOST "http://127.0.0.1:$PORT"
    variable IMREC_TEST_BUCKET gs://imrec-test
}
