# s3: an S3 store that checks signatures: versitygw, on a folder (by Go; 45 MB)
# shellcheck shell=bash
VERSITYGW=v1.8.0
REGION=us-east-1

server_install() {
    need_command curl curl
    fetch_go versitygw github.com/versity/versitygw/cmd/versitygw $VERSITYGW 25
}

server_make() {
    mkdir "$RUN/data" "$RUN/meta"
    save KEY "TEST$(random_hex 8)"
    save SECRET "$(random_hex 20)"
}

server_run() { # keys in the environment: a command line can be read by everyone
    ROOT_ACCESS_KEY_ID=$KEY ROOT_SECRET_ACCESS_KEY=$SECRET daemon versitygw \
        "$CACHE/versitygw-$VERSITYGW/versitygw" --port "127.0.0.1:$PORT" --region $REGION --keep-alive --quiet \
        --health /health posix --sidecar "$RUN/meta" "$RUN/data"
}

server_ready() { curl -fsS "http://127.0.0.1:$PORT/health"; }

server_fill() {
    printf 'user = "%s:%s"\n' "$KEY" "$SECRET" | curl -fsS -K - --aws-sigv4 "aws:amz:$REGION:s3" \
        -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' -X PUT "http://127.0.0.1:$PORT/imrec-test" >&2
}

server_variables() {
    variable AWS_ACCESS_KEY_ID "$KEY"
    variable AWS_SECRET_ACCESS_KEY "$SECRET"
    variable AWS_REGION $REGION
    variable AWS_ENDPOINT_URL "http://127.0.0.1:$PORT"
    echo "unset AWS_SESSION_TOKEN AWS_PROFILE AWS_ENDPOINT_URL_S3"
    variable IMREC_TEST_BUCKET s3://imrec-test
}
