use crate::ffi;
use std::ffi::CStr;
use std::fmt;
use std::io;
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the cache has of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Neither a file nor a download that runs. `received` and `total` tell of an interrupted one.
    Missing,
    /// Being downloaded: `received` of `total` bytes.
    InFlight,
    /// The file at `path` is complete and checked.
    Here,
    /// `failure` tells why.
    Failed,
}

/// How urgent an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Priority {
    /// Rows ahead, and prefetches.
    Background = 0,
    /// Needed now.
    #[default]
    Normal = 1,
    /// Someone is looking at its place.
    Visible = 2,
}

/// The memory pressure of the machine: a program gives up decoded pictures when it rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pressure {
    /// There is enough memory.
    Normal,
    /// Give up what is not on the screen.
    Warning,
    /// Give up everything that can be made again.
    Critical,
}

/// What is known of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// As it was asked for.
    pub url: String,
    /// Which of the others there are follows from this.
    pub state: State,
    /// Bytes.
    pub received: u64,
    /// Bytes; `None` while unknown.
    pub total: Option<u64>,
    /// The file of an image that is here. `None` if this program cannot see it, as in a sandbox:
    /// [`Cache::open_file`](crate::Cache::open_file) opens it.
    pub path: Option<PathBuf>,
    /// Found in the bytes, for example `image/png`.
    pub media_type: Option<String>,
    /// In pixels, as a viewer shows the image.
    pub width: Option<u32>,
    /// In pixels, likewise.
    pub height: Option<u32>,
    /// Why it has failed, or why an image that is here could not be refreshed.
    pub failure: Option<Failure>,
    /// Another number if another file is behind the name: a key for decoded pictures. 0 if there is no file.
    pub identity: u64,
    /// The largest smaller variant that is cached, to be shown meanwhile.
    pub stand_in: Option<PathBuf>,
}

impl Image {
    /// An image in this state, of which nothing else is known: for [`Cache::fake_set`](crate::Cache::fake_set).
    pub fn new(url: impl Into<String>, state: State) -> Self {
        Image {
            url: url.into(),
            state,
            received: 0,
            total: None,
            path: None,
            media_type: None,
            width: None,
            height: None,
            failure: None,
            identity: 0,
            stand_in: None,
        }
    }

    /// The received share, from 0 to 1; `None` while the total is unknown.
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0)?;
        Some((self.received as f64 / total as f64).min(1.0))
    }

    /// Whether no more news is to come unless the image changes.
    pub fn is_decided(&self) -> bool {
        matches!(self.state, State::Here | State::Failed)
    }

    /// Copies the texts, which live until the next call with the handle only.
    pub(crate) fn copied(image: &ffi::Image) -> Self {
        let positive = |number: i32| u32::try_from(number).ok().filter(|number| *number > 0);
        let kind = text(image.kind);
        Image {
            url: text(image.url).unwrap_or_default(),
            state: match image.state {
                ffi::MISSING => State::Missing,
                ffi::IN_FLIGHT => State::InFlight,
                ffi::HERE => State::Here,
                _ => State::Failed,
            },
            received: u64::try_from(image.received).unwrap_or(0),
            total: u64::try_from(image.total).ok(),
            path: path(image.path),
            media_type: text(image.media_type),
            width: positive(image.width),
            height: positive(image.height),
            failure: kind.map(|kind| Failure {
                kind,
                message: text(image.message).unwrap_or_default(),
                http_status: positive(image.http_status).and_then(|status| u16::try_from(status).ok()),
                retry_at: u64::try_from(image.retry_at)
                    .ok()
                    .filter(|time| *time > 0)
                    .and_then(|time| UNIX_EPOCH.checked_add(Duration::from_secs(time))),
            }),
            identity: image.identity,
            stand_in: path(image.stand_in),
        }
    }
}

/// Why an image did not come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A word for programs, for example `http` or `noDaemon`.
    pub kind: String,
    /// One sentence for a person.
    pub message: String,
    /// The answer of the origin.
    pub http_status: Option<u16>,
    /// When the daemon asks the origin again, if the image is still wanted then.
    pub retry_at: Option<SystemTime>,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Why [`Cache::get`](crate::Cache::get) returned no image.
#[derive(Debug)]
pub enum Error {
    /// There will be no image, or not now.
    Failed(Failure),
    /// The time is over; the image tells how far it is. If another program wants it, its download goes on.
    Deadline(Box<Image>),
    /// The call itself failed, for example because the URL contains a NUL.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Failed(failure) => failure.fmt(formatter),
            Error::Deadline(image) => {
                write!(formatter, "the image did not come in time ({} bytes did): {}", image.received, image.url)
            }
            Error::Io(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Failed(failure) => Some(failure),
            Error::Deadline(_) => None,
            Error::Io(error) => Some(error),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Io(error)
    }
}

fn bytes<'a>(pointer: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: a text of libcached is NULL or ends with a NUL, and the caller copies it at once.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_bytes())
}

fn text(pointer: *const c_char) -> Option<String> {
    bytes(pointer).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

fn path(pointer: *const c_char) -> Option<PathBuf> {
    bytes(pointer).map(|bytes| PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}
