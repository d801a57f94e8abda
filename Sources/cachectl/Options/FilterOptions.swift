import ArgumentParser
import CacheWire

/// Chooses images by their URL, type, state and last use. An image has to fit every option that is given.
struct FilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only images of this host, without a port.", valueName: "host"))
    var host: String?

    @Option(help: ArgumentHelp("Only images whose URL starts with this.", valueName: "url"))
    var prefix: String?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("Only images of this account.", valueName: "account"))
    var account: String?

    @Option(
        help: ArgumentHelp("Only images of this type, such as image/png.", valueName: "type"))
    var type: String?

    @Option(
        help: ArgumentHelp(
            "Only images in this state; for list alone, in-flight are the downloads and failed the images that did not come.",
            valueName: "state"))
    var state: ListState?

    @Option(
        help: ArgumentHelp(
            "Only images that nobody used for this time, such as 30d.", valueName: "time"))
    var unused: TimeSpan?

    var unusedFor: Int? { unused?.seconds }

    /// Whether any option is given.
    var isGiven: Bool {
        host != nil || prefix != nil || account != nil || type != nil || state != nil
            || unused != nil
    }
}
