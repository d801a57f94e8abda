//! The images of `cached`, the image cache of this machine. A safe face of libcached; no other crate.
//!
//! An image has a URL. [`Cache::peek`] tells in microseconds, without a daemon, whether it is here. [`Cache::get`] waits
//! for one. A list adds the images of its rows, drops those that scroll away, and takes the news:
//!
//! ```no_run
//! use cached_client::{Cache, State};
//!
//! let cache = Cache::open()?;
//! for url in ["https://example.com/a.png", "https://example.com/b.png"] {
//!     println!("{url}: {:?}", cache.peek(url)?.state);
//!     cache.add(url)?;
//! }
//! for image in cache.news() {
//!     let image = image?;
//!     println!("{}: {:?} {:?}", image.url, image.state, image.fraction());
//!     if image.is_decided() {
//!         cache.drop(&image.url)?;
//!     }
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! In an event loop, [`Cache`] is a descriptor ([`AsFd`]): when it is readable, [`Cache::next`] has the news. It never
//! waits.
//!
//! **Threads.** There are none. A [`Cache`] is `Send` and not `Sync`: one thread uses it at a time. Opening another one
//! costs some microseconds. A child after fork(2) must open its own.

#![warn(missing_docs)]

mod ffi;
mod image;
mod request;

pub use image::{Error, Failure, Image, Pressure, Priority, State};
pub use request::Request;

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, FromRawFd, RawFd};
use std::path::Path;
use std::ptr::{null, NonNull};
use std::time::{Duration, Instant};

/// Where a [`Cache`] is, and what it does without a daemon.
#[derive(Debug, Clone, Default)]
pub struct Options {
    directory: Option<CString>,
    socket: Option<CString>,
    patience: Option<Duration>,
    start: Option<bool>,
}

impl Options {
    /// Everything as other programs have it.
    pub fn new() -> Self {
        Self::default()
    }

    /// The directory of the cache: else `$CACHED_DIRECTORY`, `/var/cache/cached` if the machine's daemon serves,
    /// `$XDG_CACHE_HOME/cached` or `~/.cache/cached`. A path with a NUL is none.
    #[must_use]
    pub fn directory(mut self, path: impl AsRef<Path>) -> Self {
        self.directory = CString::new(path.as_ref().as_os_str().as_bytes()).ok();
        self
    }

    /// The socket of the daemon: else `$CACHED_SOCKET`, `$XDG_RUNTIME_DIR/cached/cached.sock` or
    /// `/run/cached/cached.sock`.
    #[must_use]
    pub fn socket(mut self, path: impl AsRef<Path>) -> Self {
        self.socket = CString::new(path.as_ref().as_os_str().as_bytes()).ok();
        self
    }

    /// How long the daemon may be away before images fail with the kind `noDaemon`; 30 s unless it is set.
    #[must_use]
    pub fn patience(mut self, time: Duration) -> Self {
        self.patience = Some(time);
        self
    }

    /// Whether a daemon is started if none answers: yes unless `$CACHED_START` is `no`.
    #[must_use]
    pub fn start(mut self, start: bool) -> Self {
        self.start = Some(start);
        self
    }

    /// Opens the cache. Neither the directory nor the daemon has to exist.
    ///
    /// # Errors
    /// Memory or descriptors are short.
    pub fn open(&self) -> io::Result<Cache> {
        let pointer = |text: &Option<CString>| text.as_ref().map_or(null(), |text| text.as_ptr());
        // SAFETY: the texts live until the call returns, which copies them.
        let handle = unsafe { ffi::cached_open(pointer(&self.directory), pointer(&self.socket)) };
        let cache = Cache::owning(handle)?;
        if let Some(time) = self.patience {
            // SAFETY: the handle is open.
            unsafe { ffi::cached_set_patience(cache.raw(), milliseconds(time)) }
        }
        if let Some(start) = self.start {
            // SAFETY: as above.
            unsafe { ffi::cached_set_start(cache.raw(), start.into()) }
        }
        Ok(cache)
    }
}

/// The open handle, which closes itself.
#[derive(Debug)]
struct Handle(NonNull<c_void>);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: nothing else has the handle.
        unsafe { ffi::cached_close(self.0.as_ptr()) }
    }
}

/// The cache of this machine. What it wants ends with it.
#[derive(Debug)]
pub struct Cache {
    // A pointer is neither Send nor Sync.
    handle: Handle,
}

// SAFETY: cached.h lets each thread use a handle as long as only one does at a time, and the type is not Sync.
unsafe impl Send for Cache {}

impl Cache {
    /// Opens the cache that every program uses.
    ///
    /// # Errors
    /// Memory or descriptors are short.
    pub fn open() -> io::Result<Self> {
        Options::new().open()
    }

    /// A cache for tests: without a daemon, a directory and a network. It follows the script of [`Cache::fake_set`].
    ///
    /// # Errors
    /// Memory or descriptors are short.
    pub fn fake() -> io::Result<Self> {
        // SAFETY: it takes nothing.
        Self::owning(unsafe { ffi::cached_open_fake() })
    }

    /// Adds a state to the script of an image, to be reported by [`Cache::next`] while it is wanted.
    ///
    /// # Errors
    /// A text contains a NUL, or this is no fake.
    pub fn fake_set(&self, image: &Image) -> io::Result<()> {
        let text = |text: Option<&[u8]>| text.map(CString::new).transpose();
        let failure = image.failure.as_ref();
        let url = CString::new(image.url.as_bytes())?;
        let path = text(image.path.as_ref().map(|path| path.as_os_str().as_bytes()))?;
        let stand_in = text(image.stand_in.as_ref().map(|path| path.as_os_str().as_bytes()))?;
        let media_type = text(image.media_type.as_deref().map(str::as_bytes))?;
        let kind = text(failure.map(|failure| failure.kind.as_bytes()))?;
        let message = text(failure.map(|failure| failure.message.as_bytes()))?;
        let pointer = |text: &Option<CString>| text.as_ref().map_or(null(), |text| text.as_ptr());
        let pixels = |number: Option<u32>| i32::try_from(number.unwrap_or(0)).unwrap_or(i32::MAX);
        let bytes = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let seconds = failure
            .and_then(|failure| failure.retry_at)
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let scripted = ffi::Image {
            length: std::mem::size_of::<ffi::Image>(),
            state: image.state as i32,
            width: pixels(image.width),
            height: pixels(image.height),
            http_status: failure.and_then(|failure| failure.http_status).unwrap_or(0).into(),
            received: bytes(image.received),
            total: image.total.map_or(-1, bytes),
            retry_at: seconds.map_or(0, |time| bytes(time.as_secs())),
            url: url.as_ptr(),
            path: pointer(&path),
            media_type: pointer(&media_type),
            kind: pointer(&kind),
            message: pointer(&message),
            identity: image.identity,
            stand_in: pointer(&stand_in),
            ..ffi::Image::new()
        };
        // SAFETY: the texts live until the call returns, which copies them.
        check(unsafe { ffi::cached_fake_set(self.raw(), &scripted) }).map(drop)
    }

    /// The name of a URL's file in the directory of the cache. Needs nothing.
    ///
    /// # Errors
    /// The URL contains a NUL.
    pub fn name(url: &str) -> io::Result<String> {
        let url = CString::new(url)?;
        let mut name = [0u8; 37];
        // SAFETY: a name has 36 characters and a NUL.
        unsafe { ffi::cached_name(url.as_ptr(), name.as_mut_ptr().cast::<c_char>()) };
        Ok(String::from_utf8_lossy(&name[..36]).into_owned())
    }

    /// Whether a daemon answers or could be started. It starts none, and waits for nothing.
    pub fn is_available(&self) -> bool {
        // SAFETY: the handle is open, as in all calls below.
        unsafe { ffi::cached_is_available(self.raw()) == 1 }
    }

    /// What the directory alone says, without the daemon, in some microseconds.
    ///
    /// # Errors
    /// The URL contains a NUL.
    pub fn peek(&self, url: impl Into<Request>) -> io::Result<Image> {
        let mut image = ffi::Image::new();
        url.into().with(|request| {
            // SAFETY: both live until the image is copied.
            check(unsafe { ffi::cached_peek(self.raw(), request.url, &mut image) })?;
            Ok(Image::copied(&image))
        })?
    }

    /// The states of many images, by one call to the daemon, for which it waits up to five seconds; from the directory
    /// if no daemon runs. It downloads nothing.
    ///
    /// # Errors
    /// A URL contains a NUL, or the daemon does not answer.
    pub fn status<S: AsRef<str>>(&self, urls: impl IntoIterator<Item = S>) -> io::Result<Vec<Image>> {
        let urls = texts(urls)?;
        let pointers: Vec<*const c_char> = urls.iter().map(|url| url.as_ptr()).collect();
        let mut images: Vec<ffi::Image> = urls.iter().map(|_| ffi::Image::new()).collect();
        // SAFETY: there are as many images as URLs.
        check(unsafe { ffi::cached_status(self.raw(), pointers.as_ptr(), pointers.len(), images.as_mut_ptr()) })?;
        Ok(images.iter().map(Image::copied).collect())
    }

    /// Wants one more image, whose news comes by [`Cache::next`]. One that is wanted already gets this priority and
    /// these options. Never waits.
    ///
    /// # Errors
    /// A text contains a NUL, or a header field is none or is not for an account.
    pub fn add(&self, request: impl Into<Request>) -> io::Result<()> {
        // SAFETY: the request lives until the call returns, which copies it.
        check(request.into().with(|request| unsafe { ffi::cached_add(self.raw(), request) })?).map(drop)
    }

    /// Wants an image no longer. Its download stops if nobody else wants it.
    ///
    /// # Errors
    /// The URL contains a NUL.
    pub fn drop(&self, url: impl Into<Request>) -> io::Result<()> {
        // SAFETY: as above.
        check(url.into().with(|request| unsafe { ffi::cached_drop(self.raw(), request.url) })?).map(drop)
    }

    /// Wants these images from now on, and no others; what was wanted before goes on. Never waits.
    ///
    /// # Errors
    /// A URL contains a NUL.
    pub fn want<S: AsRef<str>>(&self, images: impl IntoIterator<Item = (S, Priority)>) -> io::Result<()> {
        let (urls, priorities): (Vec<S>, Vec<i32>) =
            images.into_iter().map(|(url, priority)| (url, priority as i32)).unzip();
        let urls = texts(urls)?;
        let pointers: Vec<*const c_char> = urls.iter().map(|url| url.as_ptr()).collect();
        // SAFETY: there are as many priorities as URLs.
        let result = unsafe { ffi::cached_want(self.raw(), pointers.as_ptr(), priorities.as_ptr(), pointers.len()) };
        check(result).map(drop)
    }

    /// The next news of an image that is wanted, if there is some now. Never waits.
    ///
    /// # Errors
    /// This is a child after fork(2).
    #[allow(clippy::should_implement_trait)]
    pub fn next(&self) -> io::Result<Option<Image>> {
        let mut image = ffi::Image::new();
        // SAFETY: the image has its length.
        let result = check(unsafe { ffi::cached_next(self.raw(), &mut image) })?;
        Ok((result == 1).then(|| Image::copied(&image)))
    }

    /// All news of images that are wanted, as it comes: an iterator that waits. A wanted image can change at any time,
    /// so it does not end.
    pub fn news(&self) -> News<'_> {
        News { cache: self }
    }

    /// Waits until there can be news, at most for this time. Returns whether there can be.
    ///
    /// # Errors
    /// poll(2) fails.
    pub fn wait(&self, time: impl Into<Option<Duration>>) -> io::Result<bool> {
        let end = time.into().and_then(|time| Instant::now().checked_add(time));
        loop {
            let left = end.map_or(-1, |end| milliseconds(end.saturating_duration_since(Instant::now())));
            let mut entry = ffi::PollFd { descriptor: self.as_raw_fd(), events: ffi::POLLIN, occurred: 0 };
            // SAFETY: one entry.
            match unsafe { ffi::poll(&mut entry, 1, left) } {
                0 if left < i32::MAX => return Ok(false),
                1 => return Ok(true),
                0 => {}
                _ => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Waits for one image, at most for this time; `None`: for as long as it takes. Needs no daemon if the image is
    /// cached and fresh. What is wanted goes on, and its news is kept.
    ///
    /// # Errors
    /// [`Error`] tells a failure from an image that did not come in time.
    pub fn get(&self, request: impl Into<Request>, time: impl Into<Option<Duration>>) -> Result<Image, Error> {
        self.fetch(&request.into(), time.into(), ffi::cached_get)
    }

    /// As [`Cache::get`], but the origin is asked whether the image has changed. If it cannot be asked, the image that
    /// is here is returned, and its `failure` tells why. With no time, the daemon goes on with the request.
    ///
    /// # Errors
    /// As [`Cache::get`].
    pub fn refresh(&self, request: impl Into<Request>, time: impl Into<Option<Duration>>) -> Result<Image, Error> {
        self.fetch(&request.into(), time.into(), ffi::cached_refresh)
    }

    /// The file of a cached image: by its path, else handed over by the daemon, for which it waits up to five seconds.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if the image is not cached.
    pub fn open_file(&self, url: impl Into<Request>) -> io::Result<File> {
        let file =
            // SAFETY: the request lives until the call returns.
            check(url.into().with(|request| unsafe { ffi::cached_open_file(self.raw(), request.url) })?)?;
        // SAFETY: the descriptor is new, and nobody else has it.
        Ok(unsafe { File::from_raw_fd(file) })
    }

    /// Protects a cached image from eviction.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if it is not cached, [`io::ErrorKind::PermissionDenied`] if the daemon does not
    /// permit this user to pin.
    pub fn pin(&self, url: impl Into<Request>) -> io::Result<()> {
        self.set_pinned(&url.into(), true)
    }

    /// Ends the protection of [`Cache::pin`].
    ///
    /// # Errors
    /// As [`Cache::pin`].
    pub fn unpin(&self, url: impl Into<Request>) -> io::Result<()> {
        self.set_pinned(&url.into(), false)
    }

    /// Removes an image, pinned or not, with the sizes made of it, and stops its download.
    ///
    /// # Errors
    /// [`io::ErrorKind::PermissionDenied`] if the daemon does not permit this user to remove.
    pub fn remove(&self, url: impl Into<Request>) -> io::Result<()> {
        // SAFETY: the request lives until the call returns.
        check(url.into().with(|request| unsafe { ffi::cached_remove(self.raw(), request.url) })?).map(drop)
    }

    /// Removes all images of an account.
    ///
    /// # Errors
    /// As [`Cache::remove`].
    pub fn remove_account(&self, account: &str) -> io::Result<()> {
        let account = CString::new(account)?;
        // SAFETY: the text lives until the call returns.
        check(unsafe { ffi::cached_remove_account(self.raw(), account.as_ptr()) }).map(drop)
    }

    /// Puts a whole image file into the cache under a URL, as `cachectl import` does, which it runs.
    ///
    /// # Errors
    /// There is no `cachectl` or no daemon, the file is not a whole image, or the daemon does not permit it.
    pub fn import(&self, url: impl Into<Request>, file: impl AsRef<Path>) -> io::Result<()> {
        let file = CString::new(file.as_ref().as_os_str().as_bytes())?;
        // SAFETY: the texts live until the call returns.
        check(url.into().with(|request| unsafe { ffi::cached_import(self.raw(), request.url, file.as_ptr()) })?)
            .map(drop)
    }

    /// The level of memory pressure, watched from the first call on. Call it after [`Cache::next`].
    pub fn pressure(&self) -> Pressure {
        // SAFETY: the handle is open.
        match unsafe { ffi::cached_pressure(self.raw()) } {
            1 => Pressure::Warning,
            2 => Pressure::Critical,
            _ => Pressure::Normal,
        }
    }

    fn owning(handle: *mut c_void) -> io::Result<Self> {
        let handle = NonNull::new(handle).ok_or_else(io::Error::last_os_error)?;
        Ok(Cache { handle: Handle(handle) })
    }

    fn raw(&self) -> *mut c_void {
        self.handle.0.as_ptr()
    }

    fn set_pinned(&self, request: &Request, pinned: bool) -> io::Result<()> {
        // SAFETY: the request lives until the call returns.
        check(request.with(|request| unsafe { ffi::cached_pin(self.raw(), request.url, pinned.into()) })?).map(drop)
    }

    fn fetch(&self, request: &Request, time: Option<Duration>, call: Fetch) -> Result<Image, Error> {
        let mut image = ffi::Image::new();
        let (result, image) = request.with(|request| {
            // SAFETY: both live until the image is copied.
            let result = unsafe { call(self.raw(), request, time.map_or(-1, milliseconds), &mut image) };
            (result, Image::copied(&image))
        })?;
        match check(result) {
            Ok(_) => match (image.state, image.failure.clone()) {
                (State::Failed, Some(failure)) => Err(Error::Failed(failure)),
                (State::Here, _) => Ok(image),
                _ => Err(Error::Io(io::Error::new(
                    io::ErrorKind::Other,
                    "libcached ended neither with an image nor with a failure",
                ))),
            },
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(Error::Deadline(Box::new(image))),
            Err(error) => Err(Error::Io(error)),
        }
    }
}

type Fetch = unsafe extern "C" fn(*mut c_void, *const ffi::Request, i32, *mut ffi::Image) -> c_int;

/// Readable when [`Cache::next`] can have news. It stays the same.
impl AsRawFd for Cache {
    fn as_raw_fd(&self) -> RawFd {
        // SAFETY: the handle is open.
        unsafe { ffi::cached_fd(self.raw()) }
    }
}

/// As [`AsRawFd`]: for `mio`, `tokio::io::unix::AsyncFd`, `async-io` and others.
impl AsFd for Cache {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is open as long as the handle.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

/// The iterator of [`Cache::news`].
#[derive(Debug)]
pub struct News<'a> {
    cache: &'a Cache,
}

impl Iterator for News<'_> {
    type Item = io::Result<Image>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(news) = self.cache.next().transpose() {
                return Some(news);
            }
            if let Err(error) = self.cache.wait(None) {
                return Some(Err(error));
            }
        }
    }
}

/// A result of libcached, which is a negative errno if it is below 0.
fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result));
    }
    Ok(result)
}

fn milliseconds(time: Duration) -> i32 {
    // A part of a millisecond is one, so that no loop turns without waiting.
    i32::try_from(time.as_nanos().saturating_add(999_999) / 1_000_000).unwrap_or(i32::MAX)
}

fn texts<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> io::Result<Vec<CString>> {
    texts.into_iter().map(|text| CString::new(text.as_ref()).map_err(io::Error::from)).collect()
}
