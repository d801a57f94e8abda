/// Nobody reads standard output any more, which is success.
struct BrokenPipe: Error {}
