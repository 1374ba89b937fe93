# az: Azure's blobs: Azurite, on a folder (by npm; 190 MB)
# shellcheck shell=bash
AZURITE=3.35.0 # the last one for Node.js before 21
AZURITE_DATE=2026-11-01

server_install() {
    need_command curl curl
    fetch_npm azurite $AZURITE $AZURITE_DATE
}

server_make() { # two tokens: for all of the account, to make the container, and for the container, for the client
    local key
    key=$(random_hex 32)
    save KEY "$key"
    find_node
    save ACCOUNT_TOKEN "$(node "$HERE/az_token.js" "$key" account)"
    save TOKEN "$(node "$HERE/az_token.js" "$key" container)"
}

server_run() {
    find_node
    AZURITE_ACCOUNTS=imrectest:$(base64_of "$KEY") daemon azurite node \
        "$CACHE/azurite-$AZURITE/node_modules/azurite/dist/src/blob/main.js" --blobHost 127.0.0.1 --blobPort "$PORT" \
        --location "$RUN/data" --silent --skipApiVersionCheck --disableTelemetry
}

base64_of() { node -e 'console.log(Buffer.from(process.argv[1], "hex").toString("base64"))' "$1"; }

server_ready() { curl -sS "http://127.0.0.1:$PORT/"; }

server_fill() {
    printf 'url = "http://127.0.0.1:%s/imrectest/imrec-test?restype=container&%s"\n' "$PORT" "$ACCOUNT_TOKEN" |
        curl -fsS -K - -X PUT -H 'x-ms-version: 2021-08-06' -H 'Content-Length: 0' >&2
}

server_variables() {
    variable AZURE_STORAGE_SAS_TOKEN "$TOKEN"
    variable AZURE_STORAGE_SERVICE_ENDPOINT "http://127.0.0.1:$PORT/imrectest"
    variable IMREC_TEST_BUCKET az://imrectest/imrec-test
}
