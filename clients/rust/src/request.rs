use crate::{ffi, Priority};
use std::ffi::CString;
use std::fmt::Write;
use std::io;
use std::os::raw::c_char;
use std::ptr::null;
use std::time::Duration;

/// One image, and how it is wanted. A `&str` is one, too.
///
/// ```
/// use cached_client::{Priority, Request};
///
/// let request = Request::new("https://example.com/a.jpg").side(200).priority(Priority::Visible);
/// assert_eq!(request.url(), "https://example.com/a.jpg#side=256");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    original: String,
    account: Option<String>,
    side: Option<u32>,
    priority: Priority,
    attempts: u32,
    timeout: Option<Duration>,
    headers: Vec<String>,
    accept: Option<String>,
}

impl Request {
    /// An absolute URL of http or https.
    pub fn new(url: impl Into<String>) -> Self {
        Request {
            original: url.into(),
            account: None,
            side: None,
            priority: Priority::default(),
            attempts: 0,
            timeout: None,
            headers: Vec::new(),
            accept: None,
        }
    }

    /// The smaller image whose longer side has at most so many pixels, rounded up to one of 32, 64, 128, 256, 512,
    /// 1024, 2048. 0, or more than 2048: the whole image.
    #[must_use]
    pub fn side(mut self, pixels: u32) -> Self {
        self.side = (1..=2048).contains(&pixels).then(|| pixels.next_power_of_two().max(32));
        self
    }

    /// The image that an account of this program gets, or that this program keeps for itself.
    #[must_use]
    pub fn account(mut self, name: impl Into<String>) -> Self {
        self.account = Some(name.into());
        self
    }

    /// A field that is sent to the origin, for the image of an account only.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push(format!("{name}: {value}"));
        self
    }

    /// How urgent it is; [`Priority::Normal`] unless this is set.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// The failed attempts after which it has failed; as many as the daemon makes unless this is set.
    #[must_use]
    pub fn attempts(mut self, count: u32) -> Self {
        self.attempts = count;
        self
    }

    /// The time after which it fails with the kind `deadline`. For others, the download goes on.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    /// The media types that this program can decode, for example `image/jpeg, image/png`. Another one fails with the
    /// kind `notAccepted`.
    #[must_use]
    pub fn accept(mut self, types: impl Into<String>) -> Self {
        self.accept = Some(types.into());
        self
    }

    /// The URL of the variant: that of the image in all calls, and in the news.
    pub fn url(&self) -> String {
        let Request { original, account, side, .. } = self;
        if account.is_none() && side.is_none() {
            return original.clone();
        }
        let mut url = original.split('#').next().unwrap_or_default().to_owned();
        let mut separator = '#';
        if let Some(account) = account {
            url.push_str("#as=");
            for byte in account.bytes() {
                match byte {
                    b'-' | b'.' | b'_' | b'~' => url.push(byte as char),
                    _ if byte.is_ascii_alphanumeric() => url.push(byte as char),
                    _ => write!(url, "%{byte:02X}").expect("a String takes all that is written"),
                }
            }
            separator = '&';
        }
        if let Some(side) = side {
            write!(url, "{separator}side={side}").expect("a String takes all that is written");
        }
        url
    }

    /// Calls with what C wants.
    pub(crate) fn with<R>(&self, call: impl FnOnce(&ffi::Request) -> R) -> io::Result<R> {
        let url = CString::new(self.url())?;
        let accept = self.accept.clone().map(CString::new).transpose()?;
        let headers = self.headers.iter().map(|field| CString::new(field.as_bytes())).collect::<Result<Vec<_>, _>>()?;
        let mut fields: Vec<*const c_char> = headers.iter().map(|field| field.as_ptr()).collect();
        fields.push(null());
        let timeout = self.timeout.map_or(0, |time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX).max(1));
        Ok(call(&ffi::Request {
            length: std::mem::size_of::<ffi::Request>(),
            url: url.as_ptr(),
            priority: self.priority as i32,
            attempts: i32::try_from(self.attempts).unwrap_or(i32::MAX),
            timeout,
            headers: if headers.is_empty() { null() } else { fields.as_ptr() },
            accept: accept.as_ref().map_or(null(), |types| types.as_ptr()),
        }))
    }
}

impl From<&str> for Request {
    fn from(url: &str) -> Self {
        Request::new(url)
    }
}

impl From<&String> for Request {
    fn from(url: &String) -> Self {
        Request::new(url)
    }
}

impl From<String> for Request {
    fn from(url: String) -> Self {
        Request::new(url)
    }
}

impl From<&Request> for Request {
    fn from(request: &Request) -> Self {
        request.clone()
    }
}
