/// The calls of a client, as messages.
enum Calls {
    /// A stream that goes on until the connection ends.
    static func fetch(_ wants: some Sequence<Wanted>) -> [UInt8] {
        var json = JSONWriter()
        json.put(
            #"{"method":"io.cached.Cache.Fetch","more":true,"parameters":{"follow":true,"wants":"#)
        put(wants, &json)
        json.put("}}")
        json.end()
        return json.bytes
    }

    static func adjust(add: [Wanted], drop: [[UInt8]]) -> [UInt8] {
        var json = JSONWriter()
        json.put(#"{"method":"io.cached.Cache.Adjust","oneway":true,"parameters":{"drop":["#)
        for (number, url) in drop.enumerated() {
            if number > 0 { json.put(",") }
            json.put(string: url)
        }
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

    static func open(_ url: [UInt8]) -> [UInt8] {
        var json = JSONWriter()
        json.put(#"{"method":"io.cached.Cache.Open","parameters":{"url":"#)
        json.put(string: url)
        json.put("}}")
        json.end()
        return json.bytes
    }

    static func pin(_ url: [UInt8], _ isPinned: Bool) -> [UInt8] {
        var json = JSONWriter()
        json.put(#"{"method":"io.cached.Cache.Pin","parameters":{"urls":["#)
        json.put(string: url)
        json.put(isPinned ? #"],"pinned":true}}"# : #"],"pinned":false}}"#)
        json.end()
        return json.bytes
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
            json.put(#""}"#)
        }
        json.put("]")
    }
}
