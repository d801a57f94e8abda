//! The functions of cached.h that images.rs calls. For all of them use bindgen.

use std::ffi::{c_char, c_int, c_short, c_ulong, c_void};

pub const MISSING: i32 = 0;
pub const HERE: i32 = 2;
pub const FAILED: i32 = 3;
pub const POLLIN: c_short = 1;

#[repr(C)]
pub struct Image {
    pub length: usize,
    pub state: i32,
    pub width: i32,
    pub height: i32,
    pub http_status: i32,
    pub received: i64,
    pub total: i64,
    pub retry_at: i64,
    pub url: *const c_char,
    pub path: *const c_char,
    pub media_type: *const c_char,
    pub kind: *const c_char,
    pub message: *const c_char,
}

#[repr(C)]
pub struct PollFd {
    pub descriptor: c_int,
    pub events: c_short,
    pub occurred: c_short,
}

#[link(name = "cached")]
extern "C" {
    pub fn cached_open(directory: *const c_char, socket: *const c_char) -> *mut c_void;
    pub fn cached_set_patience(cache: *mut c_void, milliseconds: i32);
    pub fn cached_peek(cache: *mut c_void, url: *const c_char, image: *mut Image) -> c_int;
    pub fn cached_want(
        cache: *mut c_void, urls: *const *const c_char, priorities: *const i32, count: usize,
    ) -> c_int;
    pub fn cached_fd(cache: *mut c_void) -> c_int;
    pub fn cached_next(cache: *mut c_void, image: *mut Image) -> c_int;
    pub fn cached_close(cache: *mut c_void);
    pub fn poll(entries: *mut PollFd, count: c_ulong, milliseconds: c_int) -> c_int;
}
