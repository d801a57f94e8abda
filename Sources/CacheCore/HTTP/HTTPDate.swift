/// Dates as HTTP writes them (RFC 9110 §5.6.7).
///
/// Read strictly: a date in none of the three forms is no date, so that what is meant to be invalid
/// (`Expires: 0`, another time zone) counts as stale. Only the case of letters does not matter.
enum HTTPDate {
    /// Bytes between spaces, in lower case.
    private typealias Word = ArraySlice<UInt8>

    /// Reads an IMF-fixdate, an RFC 850 date or an asctime date; `nil` for anything else.
    ///
    /// - Parameter now: decides the century of RFC 850's two-digit years: never more than 50 years
    ///   ahead.
    static func parse(_ text: some StringProtocol, now: UnixTime) -> UnixTime? {
        let words = text.utf8.map(\.lowercasedASCII)
            .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        switch words.count {
        case 6 where words[5].reads("gmt") && isDay(words[0], of: shortDays, end: ","):
            return time(day: words[1], month: words[2], year: words[3], clock: words[4])
        case 4 where words[3].reads("gmt") && isDay(words[0], of: longDays, end: ","):
            return parseRFC850(words[1], clock: words[2], now: now)
        case 5 where isDay(words[0], of: shortDays, end: ""):
            return time(day: words[2], month: words[1], year: words[4], clock: words[3])
        // asctime pads a day of one digit with a space.
        case 6 where words[2].isEmpty && isDay(words[0], of: shortDays, end: ""):
            return time(
                day: [UInt8(ascii: "0")] + words[3], month: words[1], year: words[5],
                clock: words[4])
        default:
            return nil
        }
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

    private static let shortDays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let longDays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func isDay(_ word: Word, of days: [String], end: String) -> Bool {
        guard word.suffix(end.utf8.count).reads(end) else { return false }
        return days.contains { word.dropLast(end.utf8.count).reads($0) }
    }

    /// `06-Nov-94`.
    private static func parseRFC850(_ date: Word, clock: Word, now: UnixTime) -> UnixTime? {
        let parts = date.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 3, let short = number(parts[2], digits: 2) else { return nil }
        let thisYear = civil(days: Int64(now.rawValue) / 86400).year
        var year = thisYear / 100 * 100 + short
        if year > thisYear + 50 { year -= 100 }
        return time(day: parts[0], month: parts[1], year: Word("\(year)".utf8), clock: clock)
    }

    private static func time(
        day: Word, month: Word, year: Word, clock: Word
    ) -> UnixTime? {
        let parts = clock.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, let month = months.firstIndex(where: { month.reads($0) }),
            let day = number(day, digits: 2), let year = number(year, digits: 4),
            let hour = number(parts[0], digits: 2), let minute = number(parts[1], digits: 2),
            let second = number(parts[2], digits: 2),
            1...31 ~= day, hour < 24, minute < 60, second <= 60  // 60 is a leap second
        else { return nil }
        let days = days(year: year, month: Int64(month) + 1, day: day)
        return UnixTime(clamping: days * 86400 + hour * 3600 + minute * 60 + second)
    }

    private static func number(_ word: Word, digits: Int) -> Int64? {
        guard word.count == digits, word.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return word.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private static func capitalized(_ word: String) -> String {
        word.prefix(1).uppercased() + word.dropFirst()
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

extension UInt8 {
    fileprivate var lowercasedASCII: UInt8 { 0x41...0x5A ~= self ? self | 0x20 : self }
}

extension ArraySlice<UInt8> {
    /// Whether the bytes are those of a text.
    fileprivate func reads(_ text: String) -> Bool { elementsEqual(text.utf8) }
}
