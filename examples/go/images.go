// The states of images, their progress, and the paths of their files: images URL...
package main

// #cgo pkg-config: cached
// #include <cached.h>
// #include <poll.h>
import "C"

import (
	"fmt"
	"os"
)

// Prints an image and returns its URL. The texts live until the next call with the same handle.
func show(image *C.cached_image) string {
	url := C.GoString(image.url)
	switch {
	case image.state == C.CACHED_HERE:
		fmt.Println("cached", C.GoString(image.path))
	case image.state == C.CACHED_FAILED:
		fmt.Printf("failed %s: %s\n", url, C.GoString(image.message))
	case image.state == C.CACHED_MISSING:
		fmt.Println("missing", url)
	case image.total > 0:
		fmt.Printf("in flight %d%% %s\n", 100*image.received/image.total, url)
	default: // The origin has not sent the length, so a program with a ring lets it turn.
		fmt.Println("in flight", url)
	}
	return url
}

func main() {
	// nil: the directory and the socket that every program uses.
	cache, err := C.cached_open(nil, nil)
	if cache == nil {
		fmt.Fprintln(os.Stderr, "images: cannot open the cache:", err)
		os.Exit(1)
	}
	// A program with a window can wait longer for a daemon that restarts.
	C.cached_set_patience(cache, 2000)

	// The directory alone shows this, in microseconds and without a daemon.
	wanted := []*C.char{}
	undecided := map[string]bool{}
	for _, url := range os.Args[1:] {
		image := C.cached_image{length: C.sizeof_cached_image}
		text := C.CString(url)
		C.cached_peek(cache, text, &image)
		show(&image)
		if image.state != C.CACHED_HERE {
			wanted = append(wanted, text)
			undecided[url] = true
		}
	}

	// Wanting waits for nothing. The descriptor becomes readable when there is news.
	if len(wanted) > 0 {
		C.cached_want(cache, &wanted[0], nil, C.size_t(len(wanted)))
	}
	status := 0
	news := C.struct_pollfd{fd: C.cached_fd(cache), events: C.POLLIN}
	for len(undecided) > 0 {
		C.poll(&news, 1, -1)
		image := C.cached_image{length: C.sizeof_cached_image}
		for C.cached_next(cache, &image) == 1 {
			url := show(&image)
			if image.state == C.CACHED_HERE || image.state == C.CACHED_FAILED {
				delete(undecided, url)
			}
			if image.state == C.CACHED_FAILED {
				status = 1
			}
		}
	}
	C.cached_close(cache)
	os.Exit(status)
}
