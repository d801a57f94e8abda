/// Why a command ends before it is done.
struct CommandFailure: Error {
    let status: ExitStatus
    /// What happened, and what to do about it.
    let message: String
}
