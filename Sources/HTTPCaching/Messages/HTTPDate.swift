package import CacheValues

/// Parses and writes the dates of HTTP (RFC 9110 §5.6.7).
///
/// Parsing is strict: only the three forms of the RFC are dates, in any case of letters. A value such as
/// `Expires: 0` or a date in another time zone is meant to be invalid and has to count as stale.
package enum HTTPDate {
    /// Parses an IMF-fixdate, an RFC 850 date or an asctime date. `nil` for any other text.
    ///
    /// This function runs several times for each response, so it creates no strings.
    ///
    /// - Parameters:
    ///   - text: the value of a header field.
    ///   - now: decides the century of a two-digit year of RFC 850. The year is at most 50 years ahead.
    package static func parse(_ text: some StringProtocol, now: UnixTime) -> UnixTime? {
        let time = text.utf8.withContiguousStorageIfAvailable {
            parse(HTTPDateReader($0), now: now)
        }
        return time
            ?? Array(text.utf8).withUnsafeBufferPointer { parse(HTTPDateReader($0), now: now) }
    }

    private static func parse(_ reader: HTTPDateReader, now: UnixTime) -> UnixTime? {
        parseFixdate(reader) ?? parseRFC850(reader, now: now) ?? parseAsctime(reader)
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`.
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

    /// Parses `Sunday, 06-Nov-94 08:49:37 GMT`.
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

    /// Parses `Sun Nov  6 08:49:37 1994`. A day of one digit has a space before it.
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

    /// Writes an IMF-fixdate, the form that every recipient understands.
    package static func format(_ time: UnixTime) -> String {
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

    /// The time of a date. `nil` if the month has no such day.
    ///
    /// - Parameters:
    ///   - month: counted from 0.
    ///   - seconds: seconds since midnight.
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

    // A year is counted from 1 March here, which puts the leap day at its end. 400 years have 146,097 days.
    // There are 719,468 days between 1 March of year 0 and 1970-01-01.

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
