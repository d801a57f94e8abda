import CacheFetching
internal import Logging

/// Logs that the store cannot be used, with the remedy.
struct StoreLog {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func report(_ news: StoreNews) {
        switch news {
        case .refused(let isWriting, let refusal):
            logger.error(
                isWriting
                    ? "the store refuses images, so they stay on this machine"
                    : "the store cannot be used, so images come from their origins",
                metadata: ["code": "\(refusal.code)", "remedy": "\(refusal.remedy)"])
        case .late(let isWriting, let cause):
            logger.warning(
                isWriting
                    ? "the store is slow or gone; images are put there again later"
                    : "the store is slow or gone; images come from their origins until it is back",
                metadata: ["cause": "\(cause ?? "answers come too late")"])
        case .recovered(let isWriting):
            logger.notice(
                isWriting ? "the store takes images again" : "the store answers again")
        case .hidesMissing:
            logger.warning(
                "the store does not say whether an object is missing; permit s3:ListBucket to the key",
                metadata: ["code": "AccessDenied"])
        case .bad(let problem):
            logger.warning(
                "an object of the store is not what it claims to be; its origin is asked",
                metadata: ["problem": "\(problem)"])
        }
    }
}
