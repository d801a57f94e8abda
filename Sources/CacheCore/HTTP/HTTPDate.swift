/// Dates as HTTP writes them (RFC 9110 §5.6.7).
///
/// Read strictly: a date in none of the three forms is no date, so that what is meant to be invalid
/// (`Expires: 0`, another time zone) counts as stale. Only the case of letters does not matter.
enum HTTPDate {
    /// Reads an IMF-fixdate, an RFC 850 date or an asctime date; `nil` for anything else. Runs several times
    /// for each response, so it makes no strings.
    ///
    /// - Parameter now: decides the century of RFC 850's two-digit years: never more than 50 years
    ///   ahead.
    static func parse(_ text: some StringProtocol, now: UnixTime) -> UnixTime? {
        let time = text.utf8.withContiguousStorageIfAvailable {
            parse(HTTPDateReader($0), now: now)
        }
        return time
            ?? Array(text.utf8).withUnsafeBufferPointer { parse(HTTPDateReader($0), now: now) }
    }

    private static func parse(_ reader: HTTPDateReader, now: UnixTime) -> UnixTime? {
        parseFixdate(reader) ?? parseRFC850(reader, now: now) ?? parseAsctime(reader)
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func parseFixdate(_ reader: HTTPDateReader) -> UnixTime? {
        var reader = reader
        guard reader.one(of: shortDays) != nil, reader.takes(", "),
            let day = reader.number(digits: 2), reader.takes(" "),
            let month = reader.one(of: months), reader.takes(" "),
            let year = reader.number(digits: 4), reader.takes(" "),
            let seconds = reader.timeOfDay(), reader.takes(" gmt"), reader.isAtEnd
        else { return nil }
        return time(year: year, month: month, day: day, seconds)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`.
    private static func parseRFC850(_ reader: HTTPDateReader, now: UnixTime) -> UnixTime? {
        var reader = reader
        guard reader.one(of: longDays) != nil, reader.takes(", "),
            let day = reader.number(digits: 2), reader.takes("-"),
            let month = reader.one(of: months), reader.takes("-"),
            let short = reader.number(digits: 2), reader.takes(" "),
            let seconds = reader.timeOfDay(), reader.takes(" gmt"), reader.isAtEnd
        else { return nil }
        let thisYear = civil(days: Int64(now.rawValue) / 86400).year
        let year = thisYear / 100 * 100 + short
        return time(
            year: year > thisYear + 50 ? year - 100 : year, month: month, day: day, seconds)
    }

    /// `Sun Nov  6 08:49:37 1994`: a day of one digit has a space before it.
    private static func parseAsctime(_ reader: HTTPDateReader) -> UnixTime? {
        var reader = reader
        guard reader.one(of: shortDays) != nil, reader.takes(" "),
            let month = reader.one(of: months), reader.takes(" "),
            let day = reader.number(digits: reader.takes(" ") ? 1 : 2), reader.takes(" "),
            let seconds = reader.timeOfDay(), reader.takes(" "),
            let year = reader.number(digits: 4), reader.isAtEnd
        else { return nil }
        return time(year: year, month: month, day: day, seconds)
    }

    /// Writes an IMF-fixdate, the form every recipient understands.
    static func format(_ time: UnixTime) -> String {
        let (days, seconds) = Int64(time.rawValue).quotientAndRemainder(dividingBy: 86400)
        let (year, month, day) = civil(days: days)
        // 1970-01-01 was a Thursday.
        let weekday = capitalized(shortDays[Int((days + 3) % 7)])
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0) }
        return "\(weekday), \(padded(day)) \(capitalized(months[Int(month) - 1])) \(year) "
            + clock.joined(separator: ":") + " GMT"
    }

    // MARK: Parts

    private static let shortDays: [StaticString] = [
        "mon", "tue", "wed", "thu", "fri", "sat", "sun",
    ]
    private static let longDays: [StaticString] = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    private static let months: [StaticString] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// - Parameters:
    ///   - month: counted from 0.
    ///   - seconds: since midnight.
    private static func time(year: Int64, month: Int, day: Int64, _ seconds: Int64) -> UnixTime? {
        let first = days(year: year, month: Int64(month) + 1, day: 1)
        let next = days(
            year: month < 11 ? year : year + 1, month: Int64(month + 1) % 12 + 1, day: 1)
        guard 1...(next - first) ~= day else { return nil }
        let days = first + day - 1
        return UnixTime(clamping: days * 86400 + seconds)
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private static func capitalized(_ word: StaticString) -> String {
        "\(word)".prefix(1).uppercased() + "\(word)".dropFirst()
    }

    // MARK: The calendar

    // Years are counted from 1 March, which puts the leap day at the end; 400 of them have 146,097
    // days. 719,468 days lie between 1 March of year 0 and 1970-01-01.

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let leapDays = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leapDays + dayOfYear - 719_468
    }

    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, day) = (days + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let shifted = month < 10 ? month + 3 : month - 9
        return (
            era * 400 + year + (shifted <= 2 ? 1 : 0), shifted,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }
}

/// Reads a date from its first byte to its last.
private struct HTTPDateReader {
    private var rest: UnsafeBufferPointer<UInt8>.SubSequence

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Goes past a text, given in lower case, if it comes next.
    mutating func takes(_ text: StaticString) -> Bool {
        let expected = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard rest.count >= expected.count,
            zip(rest, expected).allSatisfy({ $0.lowercasedASCII == $1 })
        else { return false }
        rest = rest.dropFirst(expected.count)
        return true
    }

    /// Goes past one of these texts; which it was.
    mutating func one(of texts: [StaticString]) -> Int? {
        texts.firstIndex { takes($0) }
    }

    /// Goes past a number of so many digits.
    mutating func number(digits: Int) -> Int64? {
        let word = rest.prefix(digits)
        guard word.count == digits, word.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        rest = rest.dropFirst(digits)
        return word.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Goes past `08:49:37`; seconds since midnight. A leap second is the 60th of its minute.
    mutating func timeOfDay() -> Int64? {
        guard let hour = number(digits: 2), takes(":"), let minute = number(digits: 2), takes(":"),
            let second = number(digits: 2), hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }
}

extension UInt8 {
    var lowercasedASCII: UInt8 { 0x41...0x5A ~= self ? self | 0x20 : self }
}
