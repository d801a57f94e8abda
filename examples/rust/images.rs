//! The states of images, their progress, and the paths of their files: images URL...

mod cached;

use cached::*;
use std::collections::HashSet;
use std::ffi::{c_char, CStr, CString};
use std::io::Error;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;
use std::ptr::null;

/// Copies a text of an image, because it lives until the next call with the same handle only.
fn text(pointer: *const c_char) -> String {
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

fn show(image: &Image) {
    let url = text(image.url);
    match image.state {
        HERE => println!("cached {}", text(image.path)),
        FAILED => println!("failed {url}: {}", text(image.message)),
        MISSING => println!("missing {url}"),
        _ if image.total > 0 => println!("in flight {}% {url}", 100 * image.received / image.total),
        // The origin has not sent the length, so a program with a ring lets it turn.
        _ => println!("in flight {url}"),
    }
}

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1);
    let urls: Vec<CString> = arguments.filter_map(|url| CString::new(url.into_vec()).ok()).collect();
    let mut image = Image { length: size_of::<Image>(), ..unsafe { std::mem::zeroed() } };
    let mut failed = false;
    unsafe {
        // null: the directory and the socket that every program uses.
        let cache = cached_open(null(), null());
        if cache.is_null() {
            eprintln!("images: cannot open the cache: {}", Error::last_os_error());
            return ExitCode::FAILURE;
        }
        // A program with a window can wait longer for a daemon that restarts.
        cached_set_patience(cache, 2000);

        // The directory alone shows this, in microseconds and without a daemon.
        let mut undecided = HashSet::new();
        for url in &urls {
            cached_peek(cache, url.as_ptr(), &mut image);
            show(&image);
            if image.state != HERE { undecided.insert(url.as_c_str()); }
        }

        // Wanting waits for nothing. The descriptor becomes readable when there is news.
        let wanted: Vec<*const c_char> = undecided.iter().map(|url| url.as_ptr()).collect();
        cached_want(cache, wanted.as_ptr(), null(), wanted.len());
        let mut news = PollFd { descriptor: cached_fd(cache), events: POLLIN, occurred: 0 };
        while !undecided.is_empty() {
            poll(&mut news, 1, -1);
            while cached_next(cache, &mut image) == 1 {
                show(&image);
                if image.state == HERE || image.state == FAILED {
                    undecided.remove(CStr::from_ptr(image.url));
                }
                failed |= image.state == FAILED;
            }
        }
        cached_close(cache);
    }
    ExitCode::from(failed as u8)
}
