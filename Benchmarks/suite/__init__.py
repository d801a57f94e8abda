"""The modules of Benchmarks/run, in reading order: main, rows, bench, contest, peers, daemon, origin,
generator, processes, downloads, memory, scan, eviction, session, report, machine."""
