/// An error that ends a command early.
struct CommandFailure: Error {
    let status: ExitStatus
    /// Tells a person why the command failed and how to fix it.
    let message: String
}
