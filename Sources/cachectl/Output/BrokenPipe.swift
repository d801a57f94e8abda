/// The reader of standard output has closed it. The command ends successfully.
struct BrokenPipe: Error {}
