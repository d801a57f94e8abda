"""The parts of Benchmarks/run, in reading order: main, rows, bench, contest, peers, daemon, origin,
generator, processes, downloads, memory, eviction, session, report, machine."""
