#include "CLinux.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
// The C library's own header lacks the newer members of the structure.
#include <linux/tcp.h>
#include <sys/socket.h>

long long clinux_received(int socket) {
    struct tcp_info facts = {0};
    socklen_t size = sizeof facts;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &facts, &size) != 0) return -1;
    // Since Linux 4.1.
    if (size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof facts.tcpi_bytes_received) {
        errno = ENOPROTOOPT;
        return -1;
    }
    return (long long)facts.tcpi_bytes_received;
}
