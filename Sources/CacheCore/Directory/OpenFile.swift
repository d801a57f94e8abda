/// A file that stays open as long as its owner exists.
protocol OpenFile: AnyObject, Sendable {
    var descriptor: Int32 { get }
}

extension StagingFile: OpenFile {}
extension OpenedEntry: OpenFile {}
