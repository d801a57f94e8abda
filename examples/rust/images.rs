//! The states of images, their progress, and the paths of their files: images URL...

use cached_client::{Image, Options, Priority, State};
use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;

fn show(image: &Image) {
    match image.state {
        State::Here => println!("cached {}", image.path.as_deref().unwrap_or("?".as_ref()).display()),
        State::Failed => println!("failed {}: {}", image.url, image.failure.as_ref().map_or("", |f| &f.message)),
        State::Missing => println!("missing {}", image.url),
        State::InFlight => match image.fraction() {
            Some(fraction) => println!("in flight {}% {}", (100.0 * fraction) as u32, image.url),
            // The origin has not sent the length, so a program with a ring lets it turn.
            None => println!("in flight {}", image.url),
        },
    }
}

fn main() -> std::io::Result<ExitCode> {
    let urls: Vec<String> = std::env::args().skip(1).collect();
    // A program with a window can wait longer for a daemon that restarts.
    let cache = Options::new().patience(Duration::from_secs(2)).open()?;

    // The directory alone shows this, in microseconds and without a daemon.
    let mut undecided = HashSet::new();
    for url in &urls {
        let image = cache.peek(url)?;
        show(&image);
        if image.state != State::Here {
            undecided.insert(image.url);
        }
    }

    // Wanting waits for nothing. In an event loop, `cache` is a descriptor that becomes readable when there is news.
    cache.want(undecided.iter().map(|url| (url, Priority::Normal)))?;
    let mut failed = false;
    if !undecided.is_empty() {
        for image in cache.news() {
            let image = image?;
            show(&image);
            failed |= image.state == State::Failed;
            if image.is_decided() {
                undecided.remove(&image.url);
            }
            if undecided.is_empty() {
                break;
            }
        }
    }
    Ok(ExitCode::from(u8::from(failed)))
}
