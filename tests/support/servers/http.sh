# http: a web server with TLS and HTTP/2: nginx, on a folder (2 MB)
# shellcheck shell=bash

find_nginx() {
    for NGINX in "$(command -v nginx)" /usr/sbin/nginx "$CACHE/nginx/usr/sbin/nginx"; do
        [ ! -x "$NGINX" ] || return 0
    done
    return 1
}

# Debian's package is unpacked, not installed: installed, it would begin to serve on port 80.
server_install() {
    need_command openssl openssl
    need_command curl curl
    if find_nginx; then return; fi
    need_command apt-get nginx-light
    may_fetch nginx
    rm -rf "$CACHE/nginx.part"
    mkdir "$CACHE/nginx.part"
    (cd "$CACHE/nginx.part" && quietly nginx apt-get download nginx)
    quietly nginx dpkg-deb -x "$CACHE"/nginx.part/nginx_*.deb "$CACHE/nginx.part"
    "$CACHE/nginx.part/usr/sbin/nginx" -v 2>/dev/null || cannot "nginx of this Debian does not run here"
    rm -rf "$CACHE/nginx"
    mv "$CACHE/nginx.part" "$CACHE/nginx"
}

# An authority of its own; what it trusts is added to what the system trusts, so that other servers still work.
make_certificates() {
    local conf=$RUN/tls/openssl.cnf
    mkdir "$RUN/tls"
    printf '%s\n' '[req]' 'distinguished_name=n' '[n]' '[ca]' 'basicConstraints=critical,CA:TRUE' \
        'keyUsage=critical,keyCertSign' 'subjectKeyIdentifier=hash' '[server]' 'basicConstraints=CA:FALSE' \
        'subjectKeyIdentifier=hash' 'authorityKeyIdentifier=keyid' 'extendedKeyUsage=serverAuth' \
        'subjectAltName=DNS:localhost,IP:127.0.0.1' >"$conf"
    (
        cd "$RUN/tls" || exit 1
        openssl req -config "$conf" -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \
            -subj '/CN=authority of tests' -extensions ca -keyout ca.key -out ca.pem
        openssl req -config "$conf" -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
            -keyout server.key -out server.csr
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile "$conf" \
            -extensions server -out server.pem
    ) 2>"$RUN/openssl.log"
    rm "$RUN/tls/ca.key"
    cat "$RUN/tls/ca.pem" >"$RUN/tls/trusted.pem"
    if [ -r "${CURL_CA_BUNDLE:-/etc/ssl/certs/ca-certificates.crt}" ]; then
        cat "${CURL_CA_BUNDLE:-/etc/ssl/certs/ca-certificates.crt}" >>"$RUN/tls/trusted.pem"
    fi
}

server_make() {
    mkdir -p "$RUN/data/set" "$RUN/temporary"
    make_certificates
    cat >"$RUN/nginx.conf" <<CONF
$([ "$(id -u)" -ne 0 ] || echo "user root;") # the folder is its starter's alone
worker_processes 1;
pid nginx.pid.txt;
error_log error.txt warn;
events {
    worker_connections 256;
}
http {
    access_log off;
    sendfile on;
    client_body_temp_path temporary;
    proxy_temp_path temporary;
    fastcgi_temp_path temporary;
    uwsgi_temp_path temporary;
    scgi_temp_path temporary;
    types { }
    default_type application/octet-stream;
    ssl_certificate tls/server.pem;
    ssl_certificate_key tls/server.key;
    server {
        listen 127.0.0.1:$PORT ssl http2;
        root data;
    }
}
CONF
}

server_run() {
    find_nginx
    daemon nginx "$NGINX" -p "$RUN" -e error.txt -c nginx.conf -g 'daemon off;'
}

server_ready() {
    [ "$(curl -s -o "$RUN/answer.txt" -w '%{http_code}' --cacert "$RUN/tls/ca.pem" --noproxy '*' \
        "https://localhost:$PORT/none")" = 404 ]
}

server_fill() { :; }

server_variables() {
    variable CURL_CA_BUNDLE "$RUN/tls/trusted.pem"
    variable IMREC_TEST_BUCKET "https://localhost:$PORT/set"
    variable IMREC_TEST_FOLDER "$RUN/data/set" # what is put here is served
}
