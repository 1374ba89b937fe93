# A scripted HTTP/1.1 server and reverse proxy, a program that tests of network stores start through
# support/http_proxy.h.
add_executable(http_proxy support/http_proxy/answer.c support/http_proxy/conditions.c support/http_proxy/connection.c
               support/http_proxy/control.c support/http_proxy/exchange.c support/http_proxy/fifo.c
               support/http_proxy/folder.c support/http_proxy/framing.c support/http_proxy/head.c support/http_proxy/loop.c
               support/http_proxy/main.c support/http_proxy/rules.c support/http_proxy/scripted.c
               support/http_proxy/sending.c support/http_proxy/server.c support/http_proxy/settings.c
               support/http_proxy/stats.c support/http_proxy/throttle.c)
target_link_libraries(http_proxy PRIVATE imrec_flags)
target_compile_definitions(http_proxy PRIVATE _GNU_SOURCE)

add_library(imrec_http_proxy STATIC support/http_proxy.c support/http_wire.c) # starts it, and speaks HTTP by hand
target_link_libraries(imrec_http_proxy PRIVATE imrec_flags)
target_compile_definitions(imrec_http_proxy PRIVATE HTTP_PROXY_PROGRAM="$<TARGET_FILE:http_proxy>")
add_dependencies(imrec_http_proxy http_proxy)
