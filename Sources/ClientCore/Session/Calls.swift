/// The calls of a client, as messages.
package enum Calls {
    /// A refresh that goes on without a caller.
    static func refresh(_ want: Wanted) -> [UInt8] {
        var json = JSONWriter()
        json.put(#"{"method":"io.cached.Cache.Fetch","parameters":{"refresh":true,"wait":false,"#)
        json.put(#""wants":"#)
        put([want], &json)
        json.put("}}")
        json.end()
        return json.bytes
    }

    /// A stream that continues until the connection ends.
    static func fetch(_ wants: some Sequence<Wanted>, _ options: StreamOptions) -> [UInt8] {
        var json = JSONWriter()
        json.put(#"{"method":"io.cached.Cache.Fetch","more":true,"parameters":{"follow":true,"#)
        if options.refresh { json.put(#""refresh":true,"#) }
        if !options.sha256.isEmpty {
            json.put(#""sha256":"#)
            json.put(string: options.sha256)
            json.put(",")
        }
        json.put(#""wants":"#)
        put(wants, &json)
        json.put("}}")
        json.end()
        return json.bytes
    }

    static func adjust(add: some Sequence<Wanted>, drop: [[UInt8]]) -> [UInt8] {
        var json = JSONWriter()
        json.put(#"{"method":"io.cached.Cache.Adjust","oneway":true,"parameters":{"drop":["#)
        put(drop, &json)
        json.put(#"],"add":"#)
        put(add, &json)
        json.put("}}")
        json.end()
        return json.bytes
    }

    static func watchPressure() -> [UInt8] {
        var json = JSONWriter()
        json.put(#"{"method":"io.cached.Cache.Watch","more":true,"parameters":{"pressure":true}}"#)
        json.end()
        return json.bytes
    }

    static func watchAll() -> [UInt8] {
        var json = JSONWriter()
        json.put(#"{"method":"io.cached.Cache.Watch","more":true,"parameters":{}}"#)
        json.end()
        return json.bytes
    }

    package static func open(_ url: [UInt8]) -> [UInt8] {
        var json = JSONWriter()
        json.put(#"{"method":"io.cached.Cache.Open","parameters":{"url":"#)
        json.put(string: url)
        json.put("}}")
        json.end()
        return json.bytes
    }

    package static func status(_ urls: [[UInt8]]) -> [UInt8] {
        naming(urls, #"{"method":"io.cached.Cache.Status","parameters":{"urls":["#, "]}}")
    }

    package static func remove(_ urls: [[UInt8]]) -> [UInt8] {
        naming(urls, #"{"method":"io.cached.Cache.Remove","parameters":{"urls":["#, "]}}")
    }

    package static func remove(account: [UInt8]) -> [UInt8] {
        var json = JSONWriter()
        json.put(#"{"method":"io.cached.Cache.Remove","parameters":{"account":"#)
        json.put(string: account)
        json.put("}}")
        json.end()
        return json.bytes
    }

    package static func pin(_ urls: [[UInt8]], _ isPinned: Bool) -> [UInt8] {
        naming(
            urls, #"{"method":"io.cached.Cache.Pin","parameters":{"urls":["#,
            isPinned ? #"],"pinned":true}}"# : #"],"pinned":false}}"#)
    }

    private static func naming(
        _ urls: [[UInt8]], _ start: StaticString, _ end: StaticString
    ) -> [UInt8] {
        var json = JSONWriter()
        json.put(start)
        put(urls, &json)
        json.put(end)
        json.end()
        return json.bytes
    }

    private static func put(_ urls: [[UInt8]], _ json: inout JSONWriter) {
        for (number, url) in urls.enumerated() {
            if number > 0 { json.put(",") }
            json.put(string: url)
        }
    }

    private static func put(_ wants: some Sequence<Wanted>, _ json: inout JSONWriter) {
        json.put("[")
        var isFirst = true
        for want in wants {
            json.put(isFirst ? #"{"url":"# : #",{"url":"#)
            isFirst = false
            json.put(string: want.url)
            json.put(#","priority":""#)
            json.put(want.priority.word)
            json.put("\"")
            put(want.terms, &json)
            json.put("}")
        }
        json.put("]")
    }

    private static func put(_ terms: WantTerms, _ json: inout JSONWriter) {
        if terms.attempts > 0 {
            json.put(#","attempts":"#)
            json.put(number: Int64(terms.attempts))
        }
        if terms.timeout > 0 {
            json.put(#","timeout":"#)
            json.put(number: terms.timeout)
        }
        if !terms.headers.isEmpty {
            json.put(#","headers":"#)
            json.put(raw: terms.headers)
        }
    }
}
