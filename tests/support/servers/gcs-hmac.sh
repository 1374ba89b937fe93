# gcs-hmac: gs:// with HMAC keys, also for writing: versitygw, which checks them as Google's XML API does (by Go)
# shellcheck shell=bash
# shellcheck source=tests/support/servers/s3.sh
. "$HERE/s3.sh"
REGION=auto

server_variables() {
    variable GS_ACCESS_KEY_ID "$KEY"
    variable GS_SECRET_ACCESS_KEY "$SECRET"
    variable STORAGE_EMULATOR_HOST "http://127.0.0.1:$PORT"
    variable IMREC_TEST_BUCKET gs://imrec-test
}
