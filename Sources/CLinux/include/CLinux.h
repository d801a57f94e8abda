// Linux headers that Swift's Glibc module leaves out.
#ifndef CLINUX_H
#define CLINUX_H

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/xattr.h>

#endif
