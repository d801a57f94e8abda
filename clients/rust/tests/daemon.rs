//! The crate against the daemon of this build (`$CACHED_TEST_PROGRAMS`) and an origin on loopback.

use cached_client::{Cache, Error, Failure, Image, Options, Pressure, Priority, Request, State};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::io::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(60);

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("cached-rust-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a folder for the test");
        Folder(path)
    }
    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Daemon {
    folder: Folder,
    process: Child,
}

impl Daemon {
    fn start() -> Self {
        let folder = Folder::new();
        let process = Self::spawn(&folder);
        Daemon { folder, process }
    }

    fn spawn(folder: &Folder) -> Child {
        let programs =
            std::env::var("CACHED_TEST_PROGRAMS").expect("CACHED_TEST_PROGRAMS names the folder of the daemon");
        let mut command = Command::new(Path::new(&programs).join("cached"));
        // The daemon refuses settings that it does not know, such as those of tests.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CACHED_")) {
            command.env_remove(name);
        }
        let mut child = command
            .arg("--directory")
            .arg(folder.file("cache"))
            .arg("--socket")
            .arg(folder.file("socket"))
            .args(["--allow-network", "127.0.0.0/8"])
            .env("MEMORY_PRESSURE_WATCH", "/dev/null")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the daemon starts");
        let end = Instant::now() + LONG;
        while std::os::unix::net::UnixStream::connect(folder.file("socket")).is_err() {
            assert!(Instant::now() < end, "the daemon does not listen");
            assert_eq!(child.try_wait().expect("the daemon is a child"), None, "the daemon has ended");
            std::thread::yield_now();
        }
        child
    }

    fn kill(&mut self) {
        self.process.kill().expect("the daemon is there");
        self.process.wait().expect("the daemon ends");
    }

    fn again(&mut self) {
        self.process = Self::spawn(&self.folder);
    }

    fn options(&self) -> Options {
        Options::new().directory(self.folder.file("cache")).socket(self.folder.file("socket")).start(false)
    }

    fn cache(&self) -> Cache {
        self.options().open().expect("a handle")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A BMP: of any size, and whole if it is as long as it says.
fn picture() -> Vec<u8> {
    let (width, height) = (200u32, 100u32);
    let length = 54 + width * height * 3;
    let mut bytes = b"BM".to_vec();
    for number in [length, 0, 54, 40, width, height, 1 | 24 << 16, 0, width * height * 3, 2835, 2835, 0, 0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.resize(length as usize, 0x55);
    bytes
}

/// Sends a picture for `/a*`, half of it and then the rest when the gate opens for `/slow*`, and 404 for others.
struct Origin {
    address: String,
    gate: Sender<()>,
    requests: Arc<AtomicUsize>,
}

impl Origin {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let (gate, opened) = channel();
        let opened = Arc::new(Mutex::new(opened));
        let requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let opened = Arc::clone(&opened);
                std::thread::spawn(move || Self::answer(stream, &opened));
            }
        });
        Origin { address, gate, requests }
    }

    fn answer(mut stream: TcpStream, opened: &Mutex<Receiver<()>>) {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.split(' ').nth(1).unwrap_or("");
        if !path.starts_with("/a") && !path.starts_with("/slow") {
            let _ = stream.write_all(b"HTTP/1.1 404 none\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            return;
        }
        let body = picture();
        let fields = "Content-Type: image/bmp\r\nCache-Control: max-age=600\r\nConnection: close";
        let _ = write!(stream, "HTTP/1.1 200 OK\r\n{fields}\r\nContent-Length: {}\r\n\r\n", body.len());
        let half = if path.starts_with("/slow") { body.len() / 2 } else { body.len() };
        let _ = stream.write_all(&body[..half]);
        if half < body.len() && opened.lock().map(|gate| gate.recv()).is_ok() {
            let _ = stream.write_all(&body[half..]);
        }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }
}

/// The news until one of this state.
fn wait_for(cache: &Cache, state: State) -> Image {
    let end = Instant::now() + LONG;
    loop {
        while let Some(image) = cache.next().expect("news") {
            if image.state == state {
                return image;
            }
        }
        assert!(Instant::now() < end, "no image is {state:?}");
        cache.wait(LONG).expect("poll");
    }
}

#[test]
fn an_image_is_missing_then_fetched_then_here() {
    let (daemon, origin) = (Daemon::start(), Origin::start());
    let cache = daemon.cache();
    let url = origin.url("/a.bmp");
    assert_eq!(cache.peek(&url).unwrap().state, State::Missing);
    let image = cache.get(&url, LONG).unwrap();
    assert_eq!((image.width, image.height), (Some(200), Some(100)));
    assert_eq!(image.media_type.as_deref(), Some("image/bmp"));
    assert_eq!(std::fs::read(image.path.as_ref().unwrap()).unwrap(), picture());
    assert_eq!(image.path.unwrap().file_name().unwrap().to_str().unwrap(), Cache::name(&url).unwrap());
    let peeked = cache.peek(&url).unwrap();
    assert_eq!(peeked.state, State::Here);
    assert_ne!(peeked.identity, 0);
    let mut bytes = Vec::new();
    cache.open_file(&url).unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, picture());
    let none = origin.url("/none");
    let states: Vec<State> = cache.status([&url, &none]).unwrap().iter().map(|image| image.state).collect();
    assert_eq!(states, [State::Here, State::Missing]);
}

#[test]
fn a_failure_has_a_kind_and_a_status() {
    let (daemon, origin) = (Daemon::start(), Origin::start());
    let Err(Error::Failed(failure)) = daemon.cache().get(origin.url("/none"), LONG) else {
        panic!("a 404 is no image")
    };
    assert_eq!((failure.kind.as_str(), failure.http_status), ("http", Some(404)));
    assert!(failure.to_string().contains("404"), "{failure}");
}

#[test]
fn news_has_progress_and_ends_with_the_image() {
    let (daemon, origin) = (Daemon::start(), Origin::start());
    let cache = daemon.cache();
    let url = origin.url("/slow");
    cache.add(Request::new(&url).priority(Priority::Visible)).unwrap();
    let mut image = wait_for(&cache, State::InFlight);
    while image.received == 0 {
        image = wait_for(&cache, State::InFlight);
    }
    assert_eq!(image.total, Some(picture().len() as u64));
    assert!(image.fraction().unwrap() <= 0.5);
    origin.gate.send(()).unwrap();
    assert_eq!(cache.news().map(Result::unwrap).find(Image::is_decided).unwrap().state, State::Here);
    assert_eq!(origin.requests.load(Ordering::SeqCst), 1);
}

#[test]
fn a_deadline_tells_how_far_the_image_is() {
    let (daemon, origin) = (Daemon::start(), Origin::start());
    let cache = daemon.cache();
    let start = Instant::now();
    match cache.get(origin.url("/slow"), Duration::from_millis(300)) {
        Err(Error::Deadline(image)) => assert_ne!(image.state, State::Here),
        other => panic!("{other:?}"),
    }
    // libcached counts whole milliseconds.
    assert!(start.elapsed() >= Duration::from_millis(299) && start.elapsed() < Duration::from_secs(20));
}

#[test]
fn what_is_dropped_or_replaced_has_no_news() {
    let (daemon, origin) = (Daemon::start(), Origin::start());
    let cache = daemon.cache();
    let (first, second) = (origin.url("/slow1"), origin.url("/a2"));
    cache.add(&first).unwrap();
    cache.drop(&first).unwrap();
    cache.want([(&first, Priority::Normal)]).unwrap();
    cache.want([(&second, Priority::Background)]).unwrap();
    assert_eq!(wait_for(&cache, State::Here).url, second);
    cache.want(std::iter::empty::<(&str, Priority)>()).unwrap();
    assert_eq!(cache.next().unwrap(), None);
}

#[test]
fn pins_and_removals_reach_the_daemon() {
    let (daemon, origin) = (Daemon::start(), Origin::start());
    let cache = daemon.cache();
    let url = origin.url("/a");
    assert_eq!(cache.pin(&url).unwrap_err().kind(), io::ErrorKind::NotFound);
    cache.get(&url, LONG).unwrap();
    cache.pin(&url).unwrap();
    cache.unpin(&url).unwrap();
    assert_eq!(cache.refresh(&url, LONG).unwrap().state, State::Here);
    assert_eq!(origin.requests.load(Ordering::SeqCst), 2);
    cache.remove(&url).unwrap();
    assert_eq!(cache.peek(&url).unwrap().state, State::Missing);
    cache.get(Request::new(&url).account("ada"), LONG).unwrap();
    cache.remove_account("ada").unwrap();
    assert_eq!(cache.peek(Request::new(&url).account("ada")).unwrap().state, State::Missing);
    assert_eq!(cache.pressure(), Pressure::Normal);
}

#[test]
fn a_killed_daemon_that_comes_back_delivers() {
    let (mut daemon, origin) = (Daemon::start(), Origin::start());
    let cache = daemon.cache();
    cache.add(origin.url("/slow")).unwrap();
    wait_for(&cache, State::InFlight);
    daemon.kill();
    origin.gate.send(()).unwrap();
    origin.gate.send(()).unwrap();
    daemon.again();
    wait_for(&cache, State::Here);
}

#[test]
fn without_a_daemon_only_cached_images_are_there() {
    let (mut daemon, origin) = (Daemon::start(), Origin::start());
    let url = origin.url("/a");
    daemon.cache().get(&url, LONG).unwrap();
    daemon.kill();
    let cache = daemon.options().patience(Duration::from_millis(200)).open().unwrap();
    assert!(!cache.is_available());
    assert_eq!(cache.get(&url, LONG).unwrap().state, State::Here);
    match cache.get(origin.url("/a2"), LONG) {
        Err(Error::Failed(failure)) => assert_eq!(failure.kind, "noDaemon"),
        other => panic!("{other:?}"),
    }
    cache.add(origin.url("/a2")).unwrap();
    assert_eq!(wait_for(&cache, State::Failed).failure.unwrap().kind, "noDaemon");
}

#[test]
fn bad_texts_are_errors() {
    let cache = Options::new().directory("/nonexistent").socket("/nonexistent/socket").start(false).open().unwrap();
    assert_eq!(cache.peek("http://a/\0").unwrap_err().kind(), io::ErrorKind::InvalidInput);
    assert!(cache.add("http://a/\0").is_err() && cache.drop("\0").is_err() && Cache::name("\0").is_err());
    assert!(cache.add(Request::new("http://a/b").header("a", "b")).is_err());
    assert_eq!(cache.peek("x".repeat(9000)).unwrap().failure.unwrap().kind, "invalidURL");
}

#[test]
fn a_variant_is_spelled_as_the_daemon_wants_it() {
    let request = Request::new("https://example.com/a.jpg#old").account("ada@home ü").side(200);
    assert_eq!(request.url(), "https://example.com/a.jpg#as=ada%40home%20%C3%BC&side=256");
    assert_eq!(Request::new("u").side(1).url(), "u#side=32");
    assert_eq!(Request::new("u").side(2048).url(), "u#side=2048");
    assert_eq!(Request::new("u").side(2049).url(), "u");
}

#[test]
fn a_handle_moves_to_another_thread() {
    let (daemon, origin) = (Daemon::start(), Origin::start());
    let (cache, url) = (daemon.cache(), origin.url("/a"));
    let descriptor = cache.as_fd().as_raw_fd();
    let (cache, image) = std::thread::spawn(move || {
        let image = cache.get(&url, LONG).unwrap();
        (cache, image)
    })
    .join()
    .unwrap();
    assert_eq!(cache.as_raw_fd(), descriptor);
    assert_eq!(image.state, State::Here);
}

#[test]
fn a_fake_follows_its_script() {
    let cache = Cache::fake().unwrap();
    let url = "https://example.com/a.png";
    let half = Image { received: 5, total: Some(10), ..Image::new(url, State::InFlight) };
    let failure = Failure { kind: "http".into(), message: "no".into(), http_status: Some(404), retry_at: None };
    let failed = Image { failure: Some(failure), ..Image::new(url, State::Failed) };
    cache.fake_set(&half).unwrap();
    cache.fake_set(&failed).unwrap();
    cache.add(url).unwrap();
    assert_eq!(cache.next().unwrap().unwrap().fraction(), Some(0.5));
    assert_eq!(cache.next().unwrap().unwrap().failure.unwrap().http_status, Some(404));
    assert_eq!(cache.next().unwrap(), None);
}
