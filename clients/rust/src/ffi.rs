//! The declarations of `cached.h`, in its order.

use std::os::raw::{c_char, c_int, c_short, c_ulong, c_void};

pub const MISSING: i32 = 0;
pub const IN_FLIGHT: i32 = 1;
pub const HERE: i32 = 2;
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
    pub fresh_until: i64,
    pub phase: i32,
    pub pinned: i32,
    pub url: *const c_char,
    pub path: *const c_char,
    pub media_type: *const c_char,
    pub kind: *const c_char,
    pub message: *const c_char,
    pub identity: u64,
    pub stand_in: *const c_char,
}

impl Image {
    /// `CACHED_IMAGE_INIT`
    pub fn new() -> Self {
        // SAFETY: numbers and pointers, for which zero is a value.
        Image { length: std::mem::size_of::<Self>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
pub struct Request {
    pub length: usize,
    pub url: *const c_char,
    pub priority: i32,
    pub attempts: i32,
    pub timeout: i64,
    pub headers: *const *const c_char,
    pub accept: *const c_char,
}

/// poll(2)
#[repr(C)]
pub struct PollFd {
    pub descriptor: c_int,
    pub events: c_short,
    pub occurred: c_short,
}

extern "C" {
    pub fn cached_open(directory: *const c_char, socket: *const c_char) -> *mut c_void;
    pub fn cached_set_patience(cache: *mut c_void, milliseconds: i32);
    pub fn cached_set_start(cache: *mut c_void, start: c_int);
    pub fn cached_is_available(cache: *mut c_void) -> c_int;
    pub fn cached_close(cache: *mut c_void);
    pub fn cached_name(url: *const c_char, name: *mut c_char);
    pub fn cached_peek(cache: *mut c_void, url: *const c_char, image: *mut Image) -> c_int;
    pub fn cached_status(cache: *mut c_void, urls: *const *const c_char, count: usize, images: *mut Image) -> c_int;
    pub fn cached_add(cache: *mut c_void, request: *const Request) -> c_int;
    pub fn cached_drop(cache: *mut c_void, url: *const c_char) -> c_int;
    pub fn cached_want(cache: *mut c_void, urls: *const *const c_char, priorities: *const i32, count: usize) -> c_int;
    pub fn cached_get(cache: *mut c_void, request: *const Request, milliseconds: i32, image: *mut Image) -> c_int;
    pub fn cached_refresh(cache: *mut c_void, request: *const Request, milliseconds: i32, image: *mut Image) -> c_int;
    pub fn cached_fd(cache: *mut c_void) -> c_int;
    pub fn cached_next(cache: *mut c_void, image: *mut Image) -> c_int;
    pub fn cached_open_file(cache: *mut c_void, url: *const c_char) -> c_int;
    pub fn cached_pin(cache: *mut c_void, url: *const c_char, pinned: c_int) -> c_int;
    pub fn cached_remove(cache: *mut c_void, url: *const c_char) -> c_int;
    pub fn cached_remove_account(cache: *mut c_void, account: *const c_char) -> c_int;
    pub fn cached_import(cache: *mut c_void, url: *const c_char, file: *const c_char) -> c_int;
    pub fn cached_pressure(cache: *mut c_void) -> c_int;
    pub fn cached_open_fake() -> *mut c_void;
    pub fn cached_fake_set(cache: *mut c_void, image: *const Image) -> c_int;

    pub fn poll(entries: *mut PollFd, count: c_ulong, milliseconds: c_int) -> c_int;
}
