"""The states of images, their progress, and the paths of their files: python3 images.py URL..."""

import sys

from cached_client import Cache, CacheError, Item


def show(image):
    if image.state == "cached":
        text = f"cached {image.path}"
    elif image.state == "failed":
        text = f"failed {image.url}: {image.failure}"
    elif image.state == "missing":
        text = f"missing {image.url}"
    elif image.fraction is not None:
        text = f"in flight {int(100 * image.fraction)}% {image.url}"
    else:  # The origin has not sent the length, so a program with a ring lets it turn.
        text = f"in flight {image.url}"
    print(text, flush=True)


def known_at_once(url):
    """The directory alone shows this, in microseconds and without a daemon."""
    try:
        return cache.peek(url)
    except CacheError as error:  # Such as a URL that is too long.
        return Item(url, "failed", failure=error)


cache = Cache()
images = {url: known_at_once(url) for url in sys.argv[1:]}
for image in images.values():
    show(image)

# Iterating waits; asyncio and the main loop of GLib have their own ways. Leaving the loop early would end
# the downloads that no other program wants.
for image in cache.load([url for url, image in images.items() if image.state != "cached"]):
    show(image)
    images[image.url] = image
sys.exit(any(image.state == "failed" for image in images.values()))
