"""The parts of Benchmarks/run, in reading order: main, rows, bench, contest, peers, daemon, origin,
generator, session, report, machine."""
