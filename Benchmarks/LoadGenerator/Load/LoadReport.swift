/// The result of a load.
struct LoadReport {
    let latencies: Latencies.Summary
    /// Requests answered during the measurement.
    let requests: Int
    /// The length of the measurement.
    let seconds: Double
    /// The average size of a reply in bytes, including its framing.
    let bytesPerReply: Double

    /// One line of JSON; rates are per second.
    func json(urlsPerCall: Int) -> String {
        let rate = seconds > 0 ? Double(requests) / seconds : 0
        return "{\"requests\":\(requests),\"seconds\":\(seconds),\"requestsPerSecond\":\(rate),"
            + "\"urlsPerSecond\":\(rate * Double(urlsPerCall)),\(latencies.jsonMembers),"
            + "\"bytesPerReply\":\(bytesPerReply)}"
    }
}
