package import CacheValues

/// Parses and writes the dates of HTTP (RFC 9110 §5.6.7).
///
/// Servers send dates in more forms than the three of the RFC, and Chromium reads them: parts in another order, days and
/// hours of one digit, `UTC`, `Z` or a time zone in digits, ISO 8601. A date without a zone is in GMT. Other values, such
/// as `Expires: 0` or one with an unknown word, are no dates and have to count as stale.
package enum HTTPDate {
    /// No date has more bytes, in whatever form.
    private static let longest = 100

    /// Parses a date and a time of day. `nil` for any other text.
    ///
    /// This function runs several times for each response, so it creates no strings.
    ///
    /// - Parameters:
    ///   - text: the value of a header field.
    ///   - now: decides the century of a two-digit year. The year is at most 50 years ahead.
    package static func parse(_ text: String, now: UnixTime) -> UnixTime? {
        guard text.utf8.count <= longest else { return nil }
        if let usual = parseUsual(text) { return usual }
        let parts = text.utf8.withContiguousStorageIfAvailable { Parts(HTTPDateReader($0)) }
        guard
            let read = parts
                ?? Array(text.utf8).withUnsafeBufferPointer({ Parts(HTTPDateReader($0)) }),
            let day = read.day, let month = read.month, var year = read.year,
            let seconds = read.seconds
        else { return nil }
        if read.hasShortYear {
            let thisYear = civil(days: Int64(now.rawValue) / 86400).year
            year += thisYear / 100 * 100
            if year > thisYear + 50 { year -= 100 }
        }
        return time(year: year, month: month, day: day, seconds - read.offset)
    }

    /// Parses the form that ``format(_:)`` writes, and nearly all servers send. `nil` for all others, which takes far longer.
    static func parseUsual(_ text: String) -> UnixTime? {
        let parsed = text.utf8.withContiguousStorageIfAvailable { bytes -> UnixTime? in
            guard bytes.count == form.utf8CodeUnitCount else { return nil }
            // Whatever is no digit makes another date than that of the text.
            func number(_ places: Range<Int>) -> Int64 {
                places.reduce(0) { $0 * 10 + Int64(bytes[$1]) - 0x30 }
            }
            let month = (0..<12).first { month in
                (0..<3).allSatisfy { bytes[8 + $0] == monthNames.utf8Start[3 * month + $0] }
            }
            guard let month else { return nil }
            return time(
                year: number(12..<16), month: month, day: number(5..<7),
                number(17..<19) * 3600 + number(20..<22) * 60 + number(23..<25))
        }
        return (parsed ?? nil).flatMap { format($0) == text ? $0 : nil }
    }

    /// Parses the date of `Expires`, in which a form that is not valid has to count as stale (RFC 9111 §5.3): one of the
    /// RFC's, also with a day of one digit or with `+0000`, or ISO 8601 in GMT. `nil` for all others.
    package static func parseExpiry(_ text: String, now: UnixTime) -> UnixTime? {
        if let usual = parseUsual(text) { return usual }
        guard let time = parse(text, now: now) else { return nil }
        // The farthest time stands for all later ones.
        if time.rawValue == .max { return time }
        let words = format(time).split(separator: " ").map(String.init)
        let (day, month, year, clock) = (words[1], words[2], words[3], words[4])
        let (short, wide) = (
            String(Int(day) ?? 0), day.hasPrefix("0") ? " " + day.dropFirst() : day
        )
        let forms =
            [day, short].flatMap { day in
                ["GMT", "+0000"].map { ", \(day) \(month) \(year) \(clock) \($0)" }
            } + [
                ", \(day)-\(month)-\(year.suffix(2)) \(clock) GMT",
                " \(month) \(wide) \(clock) \(year)",
            ]
        let date = text.drop { $0.isLetter }.lowercased()
        let isValid =
            forms.contains { $0.lowercased() == date }
            || ["Z", "+00:00"].contains { text == iso(time) + $0 }
        return isValid ? time : nil
    }

    /// The parts of a date, as far as they are read.
    private struct Parts {
        var day: Int64?
        /// Counted from 0.
        var month: Int?
        var year: Int64?
        var hasShortYear = false
        /// Seconds since midnight.
        var seconds: Int64?
        /// Seconds that the time is ahead of GMT.
        var offset: Int64 = 0

        init?(_ reader: HTTPDateReader) {
            var reader = reader
            while !reader.isAtEnd {
                if seconds != nil, let offset = reader.offset() {
                    self.offset = offset
                } else if let (number, digits) = reader.number() {
                    guard take(number, digits, &reader) else { return nil }
                } else if let month = reader.one(of: HTTPDate.months) {
                    guard self.month == nil else { return nil }
                    self.month = month
                } else if !reader.skipsOther() {
                    return nil
                }
            }
        }

        /// Takes a number of so many digits.
        private mutating func take(
            _ number: Int64, _ digits: Int, _ reader: inout HTTPDateReader
        ) -> Bool {
            switch digits {
            case 1...2 where reader.takes(":"):
                guard seconds == nil, let rest = reader.restOfTime(), number < 24 else {
                    return false
                }
                seconds = number * 3600 + rest
            // ISO 8601 begins with the year.
            case 1...2 where month == nil && year != nil:
                guard 1...12 ~= number else { return false }
                month = Int(number) - 1
            case 1...2 where day == nil: day = number
            case 2 where year == nil: (year, hasShortYear) = (number, true)
            case 4 where year == nil: year = number
            default: return false
            }
            return true
        }
    }

    /// Writes an IMF-fixdate, the form that every recipient understands.
    package static func format(_ time: UnixTime) -> String {
        let (days, seconds) = Int64(time.rawValue).quotientAndRemainder(dividingBy: 86400)
        let (year, month, day) = civil(days: days)
        // 1970-01-01 was a Thursday.
        let weekday = (days + 3) % 7
        return String(unsafeUninitializedCapacity: form.utf8CodeUnitCount) { text in
            _ = text.initialize(
                from: UnsafeBufferPointer(start: form.utf8Start, count: form.utf8CodeUnitCount))
            for place in 0..<3 {
                text[place] = dayNames.utf8Start[3 * Int(weekday) + place]
                text[8 + place] = monthNames.utf8Start[3 * Int(month - 1) + place]
            }
            func put(_ number: Int64, at places: Range<Int>) {
                var rest = number
                for place in places.reversed() {
                    text[place] = 0x30 + UInt8(rest % 10)
                    rest /= 10
                }
            }
            put(day, at: 5..<7)
            put(year, at: 12..<16)
            put(seconds / 3600, at: 17..<19)
            put(seconds / 60 % 60, at: 20..<22)
            put(seconds % 60, at: 23..<25)
            return text.count
        }
    }

    /// Writes the date and time of ISO 8601, without a zone.
    private static func iso(_ time: UnixTime) -> String {
        let (days, seconds) = Int64(time.rawValue).quotientAndRemainder(dividingBy: 86400)
        let (year, month, day) = civil(days: days)
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0) }
        return "\(year)-\(padded(month))-\(padded(day))T" + clock.joined(separator: ":")
    }

    // MARK: Parts

    private static let form: StaticString = "Ddd, 00 Mmm 0000 00:00:00 GMT"
    private static let dayNames: StaticString = "MonTueWedThuFriSatSun"
    private static let monthNames: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"
    fileprivate static let months: [StaticString] = [
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
