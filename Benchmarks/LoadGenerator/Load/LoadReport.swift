/// What came of a load.
struct LoadReport {
    let latencies: Latencies.Summary
    /// Requests answered within the measurement.
    let requests: Int
    /// Length of the measurement.
    let seconds: Double
    /// Bytes of an answer on average, its framing included.
    let bytesPerReply: Double

    /// One line of JSON; rates are per second.
    func json(urlsPerCall: Int) -> String {
        let rate = seconds > 0 ? Double(requests) / seconds : 0
        return "{\"requests\":\(requests),\"seconds\":\(seconds),\"requestsPerSecond\":\(rate),"
            + "\"urlsPerSecond\":\(rate * Double(urlsPerCall)),\(latencies.jsonMembers),"
            + "\"bytesPerReply\":\(bytesPerReply)}"
    }
}
