"""Times Cache.peek: peek.py DIRECTORY STATE SECONDS, and URLs on standard input. Like peek.c."""

import itertools
import statistics
import sys
import time

from cached_client import Cache

BATCH = 256

directory, state, seconds = sys.argv[1:]
cache = Cache(directory)
urls = itertools.cycle(sys.stdin.read().split())
batches, begin = [], time.perf_counter()
end = begin + float(seconds)
while begin < end:
    for url in itertools.islice(urls, BATCH):
        if cache.peek(url).state != state:
            sys.exit(f"peek: {url} is not {state}")
    now = time.perf_counter()
    batches.append(now - begin)
    begin = now
print(1e6 * statistics.median(batches) / BATCH)
