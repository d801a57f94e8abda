// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// The full names of the daemon's methods.
public enum MethodName: String, Sendable, CaseIterable {
    case status = "io.cached.Cache.Status"
    case open = "io.cached.Cache.Open"
    case fetch = "io.cached.Cache.Fetch"
    case adjust = "io.cached.Cache.Adjust"
    case watch = "io.cached.Cache.Watch"
    case list = "io.cached.Cache.List"
    case remove = "io.cached.Cache.Remove"
    case pin = "io.cached.Cache.Pin"
    case evict = "io.cached.Cache.Evict"
    case pressure = "io.cached.Cache.Pressure"
    case stats = "io.cached.Cache.Stats"
    case verify = "io.cached.Cache.Verify"
    case `where` = "io.cached.Cache.Where"
    case getInfo = "org.varlink.service.GetInfo"
    case getInterfaceDescription = "org.varlink.service.GetInterfaceDescription"
}

/// The methods, one type for each. They are in a namespace because other types have the same names.
public enum Methods {}

extension Methods {
    /// Returns the state of URLs. It never starts a download and does not count as a use.
    /// Answered from memory; with details also from the attributes of the files.
    public enum Status: Method {
        public static let name = MethodName.status

        public struct Parameters: WireValue {
            /// In any order and with repetitions. The items of the reply have the same order.
            public var urls: [String]
            /// Whether to read the digest, times and pin from the files' attributes too.
            public var details: Bool?

            public init(
                urls: [String],
                details: Bool? = nil
            ) {
                self.urls = urls
                self.details = details
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("details", details)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case details
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decode([String].self, forKey: .urls)
                details = try members.decodeIfPresent(Bool.self, forKey: .details)
            }
        }

        public typealias Reply = ItemList
    }
}

extension Methods {
    /// Hands over the file of a cached image: its descriptor, open for reading, comes with the
    /// reply (SCM_RIGHTS, unix(7)), for programs that may not or cannot open its path. Counts
    /// as a use, and never starts a download. If the image is not cached there is no
    /// descriptor, and the item has a failure; so it is while the client has not received 64
    /// descriptors.
    public enum Open: Method {
        public static let name = MethodName.open

        public struct Parameters: WireValue {
            public var url: String

            public init(
                url: String
            ) {
                self.url = url
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("url", url)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case url
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                url = try members.decode(String.self, forKey: .url)
            }
        }

        public struct Reply: WireValue {
            public var item: Item

            public init(
                item: Item
            ) {
                self.item = item
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("item", item)
                }
            }
        }
    }
}

extension Methods {
    /// Downloads what is missing or stale. A URL that is already being downloaded joins that
    /// download.
    ///
    /// With more: first all items, then the items that change, and at the end all items; if
    /// nothing has to be waited for, only the last reply. Another Fetch or Watch on the
    /// connection takes over from the running one, and Adjust changes its images.
    public enum Fetch: Method {
        public static let name = MethodName.fetch

        public struct Parameters: WireValue {
            /// In any order and with repetitions. The items of the reply have the same order.
            public var urls: [String]?
            /// More images, with a priority each. Their items follow those of urls.
            public var wants: [Want]?
            /// The default is normal.
            public var priority: Priority?
            /// Whether to ask the origin even if the entry is still fresh.
            public var refresh: Bool?
            /// false replies at once. The daemon continues the downloads on its own.
            public var wait: Bool?
            /// The expected SHA-256 of every image, as 64 hexadecimal digits. An image with another
            /// digest is a failure.
            public var sha256: String?
            /// Only with more: the stream goes on when all images are decided. It reports evictions,
            /// removals and refreshes, and fetches again at retryAt what failed for a reason that
            /// passes.
            public var follow: Bool?

            public init(
                urls: [String]? = nil,
                wants: [Want]? = nil,
                priority: Priority? = nil,
                refresh: Bool? = nil,
                wait: Bool? = nil,
                sha256: String? = nil,
                follow: Bool? = nil
            ) {
                self.urls = urls
                self.wants = wants
                self.priority = priority
                self.refresh = refresh
                self.wait = wait
                self.sha256 = sha256
                self.follow = follow
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("wants", wants)
                    json.member("priority", priority)
                    json.member("refresh", refresh)
                    json.member("wait", wait)
                    json.member("sha256", sha256)
                    json.member("follow", follow)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case wants
                case priority
                case refresh
                case wait
                case sha256
                case follow
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decodeIfPresent([String].self, forKey: .urls)
                wants = try members.decodeIfPresent([Want].self, forKey: .wants)
                priority = try members.decodeIfPresent(Priority.self, forKey: .priority)
                refresh = try members.decodeIfPresent(Bool.self, forKey: .refresh)
                wait = try members.decodeIfPresent(Bool.self, forKey: .wait)
                sha256 = try members.decodeIfPresent(String.self, forKey: .sha256)
                follow = try members.decodeIfPresent(Bool.self, forKey: .follow)
            }
        }

        public typealias Reply = ItemList
    }
}

extension Methods {
    /// Changes the images of the Fetch with more that runs on the connection. An image whose
    /// priority changes keeps its download. Oneway, the next reply to the Fetch has the items
    /// that are new. With more, the Fetch ends with a reply without items, and the replies to
    /// Adjust go on in its place. Without either the error is ExpectedMore.
    public enum Adjust: Method {
        public static let name = MethodName.adjust

        public struct Parameters: WireValue {
            public var add: [Want]?
            /// URLs that are no longer wanted. They are dropped before others are added.
            public var drop: [String]?

            public init(
                add: [Want]? = nil,
                drop: [String]? = nil
            ) {
                self.add = add
                self.drop = drop
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("add", add)
                    json.member("drop", drop)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case add
                case drop
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                add = try members.decodeIfPresent([Want].self, forKey: .add)
                drop = try members.decodeIfPresent([String].self, forKey: .drop)
            }
        }

        public typealias Reply = ItemList
    }
}

extension Methods {
    /// Reports the current state and then the changes. It never starts a download, and does not
    /// count as a use.
    ///
    /// With more: first the current state, in replies of at most 256 items; then the changes,
    /// which are gathered for at most 100 ms. An item is reported again when its state or phase
    /// changes, when 1 % more of it has arrived, and when it ends. If a download failed, an
    /// item with its failure is reported too. The url of an item comes from the attribute of
    /// its file, and is empty if it is not known.
    ///
    /// A client that reads slowly gets the newest state. If more has changed than the daemon
    /// remembers, the stream ends, and the client has to call again. A new Watch takes over
    /// from the running one and misses no change of what both name. Without more: the current
    /// state of the urls, once. Without more and urls the error is ExpectedMore.
    public enum Watch: Method {
        public static let name = MethodName.watch

        public struct Parameters: WireValue {
            /// Absent: everything, unless pressure is set.
            public var urls: [String]?
            /// Whether to watch downloads only, without urls: each download when it is requested, when
            /// it starts and when it ends. A download that takes less than 100 ms is not reported.
            public var downloads: Bool?
            /// Whether to report memory pressure: the level at the beginning and each other level.
            /// Without urls and downloads the stream reports nothing else.
            public var pressure: Bool?

            public init(
                urls: [String]? = nil,
                downloads: Bool? = nil,
                pressure: Bool? = nil
            ) {
                self.urls = urls
                self.downloads = downloads
                self.pressure = pressure
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("downloads", downloads)
                    json.member("pressure", pressure)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case downloads
                case pressure
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decodeIfPresent([String].self, forKey: .urls)
                downloads = try members.decodeIfPresent(Bool.self, forKey: .downloads)
                pressure = try members.decodeIfPresent(Bool.self, forKey: .pressure)
            }
        }

        public struct Reply: WireValue {
            /// The items that changed since the last reply. The first replies contain all items.
            public var items: [Item]
            /// The keys that are no longer cached or in flight, whatever the reason.
            public var removed: [String]
            /// Only with pressure, in replies that report a level.
            public var pressure: MemoryPressure?

            public init(
                items: [Item],
                removed: [String],
                pressure: MemoryPressure? = nil
            ) {
                self.items = items
                self.removed = removed
                self.pressure = pressure
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("items", items)
                    json.member("removed", removed)
                    json.member("pressure", pressure)
                }
            }
        }
    }
}

extension Methods {
    /// Lists the entries, page by page. Until the directory has been read (isIndexed of Stats)
    /// the list contains only the entries that have been read so far. With a filter a page can
    /// be shorter than limit, even empty, and not be the last.
    public enum List: Method {
        public static let name = MethodName.list

        public struct Parameters: WireValue {
            /// The default is recency.
            public var order: ListOrder?
            /// The most items to return. The daemon can return fewer.
            public var limit: Int?
            /// The after of the previous page's reply.
            public var after: String?
            /// Whether to reverse the order.
            public var reverse: Bool?
            /// Only images whose URL starts with these bytes.
            public var prefix: String?
            /// Only images of this host, in upper or lower case, without a port.
            public var host: String?
            public var state: ListState?
            /// Whether to return keys in place of items.
            public var keysOnly: Bool?

            public init(
                order: ListOrder? = nil,
                limit: Int? = nil,
                after: String? = nil,
                reverse: Bool? = nil,
                prefix: String? = nil,
                host: String? = nil,
                state: ListState? = nil,
                keysOnly: Bool? = nil
            ) {
                self.order = order
                self.limit = limit
                self.after = after
                self.reverse = reverse
                self.prefix = prefix
                self.host = host
                self.state = state
                self.keysOnly = keysOnly
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("order", order)
                    json.member("limit", limit)
                    json.member("after", after)
                    json.member("reverse", reverse)
                    json.member("prefix", prefix)
                    json.member("host", host)
                    json.member("state", state)
                    json.member("keysOnly", keysOnly)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case order
                case limit
                case after
                case reverse
                case prefix
                case host
                case state
                case keysOnly
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                order = try members.decodeIfPresent(ListOrder.self, forKey: .order)
                limit = try members.decodeIfPresent(Int.self, forKey: .limit)
                after = try members.decodeIfPresent(String.self, forKey: .after)
                reverse = try members.decodeIfPresent(Bool.self, forKey: .reverse)
                prefix = try members.decodeIfPresent(String.self, forKey: .prefix)
                host = try members.decodeIfPresent(String.self, forKey: .host)
                state = try members.decodeIfPresent(ListState.self, forKey: .state)
                keysOnly = try members.decodeIfPresent(Bool.self, forKey: .keysOnly)
            }
        }

        public struct Reply: WireValue {
            /// Empty with keysOnly.
            public var items: [Item]
            /// The position after this page; absent on the last page.
            public var after: String?
            /// Only with keysOnly.
            public var keys: [String]?

            public init(
                items: [Item],
                after: String? = nil,
                keys: [String]? = nil
            ) {
                self.items = items
                self.after = after
                self.keys = keys
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("items", items)
                    json.member("after", after)
                    json.member("keys", keys)
                }
            }
        }
    }
}

extension Methods {
    /// Removes entries and cancels their downloads: by URL, by prefix, or all.
    public enum Remove: Method {
        public static let name = MethodName.remove

        public struct Parameters: WireValue {
            /// The URLs to remove, pinned or not.
            public var urls: [String]?
            /// Removes all entries whose URL starts with these bytes. Pinned entries are kept.
            public var prefix: String?
            /// Whether to remove all entries. Pinned entries are kept.
            public var all: Bool?

            public init(
                urls: [String]? = nil,
                prefix: String? = nil,
                all: Bool? = nil
            ) {
                self.urls = urls
                self.prefix = prefix
                self.all = all
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("prefix", prefix)
                    json.member("all", all)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case prefix
                case all
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decodeIfPresent([String].self, forKey: .urls)
                prefix = try members.decodeIfPresent(String.self, forKey: .prefix)
                all = try members.decodeIfPresent(Bool.self, forKey: .all)
            }
        }

        public typealias Reply = RemovedEntries
    }
}

extension Methods {
    /// Protects entries from eviction, or ends the protection.
    public enum Pin: Method {
        public static let name = MethodName.pin

        public struct Parameters: WireValue {
            /// In any order and with repetitions. The items of the reply have the same order.
            public var urls: [String]
            /// false ends the protection.
            public var pinned: Bool

            public init(
                urls: [String],
                pinned: Bool
            ) {
                self.urls = urls
                self.pinned = pinned
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("pinned", pinned)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case pinned
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decode([String].self, forKey: .urls)
                pinned = try members.decode(Bool.self, forKey: .pinned)
            }
        }

        public typealias Reply = ItemList
    }
}

extension Methods {
    /// Evicts the least recently used entries until the cache fits a size.
    public enum Evict: Method {
        public static let name = MethodName.evict

        public struct Parameters: WireValue {
            /// The size.
            public var toBytes: Int

            public init(
                toBytes: Int
            ) {
                self.toBytes = toBytes
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("toBytes", toBytes)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case toBytes
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                toBytes = try members.decode(Int.self, forKey: .toBytes)
            }
        }

        public typealias Reply = RemovedEntries
    }
}

extension Methods {
    /// Gives memory back as if a source of pressure had reported this level.
    public enum Pressure: Method {
        public static let name = MethodName.pressure

        public struct Parameters: WireValue {
            public var level: PressureLevel

            public init(
                level: PressureLevel
            ) {
                self.level = level
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("level", level)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case level
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                level = try members.decode(PressureLevel.self, forKey: .level)
            }
        }

        public typealias Reply = RemovedEntries
    }
}

extension Methods {
    /// Returns the daemon's counters and gauges.
    public enum Stats: Method {
        public static let name = MethodName.stats

        public typealias Parameters = NoParameters

        public struct Reply: WireValue {
            /// One flat object. The names contain the units: entries, bytesUsed, bytesBudget,
            /// directory, ...
            public var stats: [String: JSONValue]

            public init(
                stats: [String: JSONValue]
            ) {
                self.stats = stats
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("stats", stats)
                }
            }
        }
    }
}

extension Methods {
    /// Reads all entries and compares them with what was downloaded; with more, it reports
    /// progress without items. Damaged entries are missing from then on. The verification stops
    /// if its caller disconnects.
    public enum Verify: Method {
        public static let name = MethodName.verify

        public struct Parameters: WireValue {
            /// Whether to download damaged entries again, or remove them if their URL is lost.
            public var repair: Bool?

            public init(
                repair: Bool? = nil
            ) {
                self.repair = repair
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("repair", repair)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case repair
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                repair = try members.decodeIfPresent(Bool.self, forKey: .repair)
            }
        }

        public struct Reply: WireValue {
            /// The number of compared entries.
            public var checked: Int
            /// The first 10,000 damaged entries: cached if downloaded again, missing if removed, and
            /// with a failure if the damage remains. Only in the last reply.
            public var damaged: [Item]
            /// The number of entries at the start.
            public var total: Int?
            /// The number of damaged entries.
            public var damagedCount: Int?
            /// The number of damaged entries that were not repaired.
            public var leftCount: Int?
            /// Why the entries could not be read.
            public var failure: Failure?

            public init(
                checked: Int,
                damaged: [Item],
                total: Int? = nil,
                damagedCount: Int? = nil,
                leftCount: Int? = nil,
                failure: Failure? = nil
            ) {
                self.checked = checked
                self.damaged = damaged
                self.total = total
                self.damagedCount = damagedCount
                self.leftCount = leftCount
                self.failure = failure
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("checked", checked)
                    json.member("damaged", damaged)
                    json.member("total", total)
                    json.member("damagedCount", damagedCount)
                    json.member("leftCount", leftCount)
                    json.member("failure", failure)
                }
            }
        }
    }
}

extension Methods {
    /// Tells where the cache is, so that a client need not guess.
    public enum Where: Method {
        public static let name = MethodName.where

        public typealias Parameters = NoParameters

        public struct Reply: WireValue {
            /// The absolute path of the cache directory.
            public var directory: String
            /// The absolute path of the socket.
            public var socket: String
            public var version: String
            /// Whether several users share the cache, so that it keeps no private images.
            public var shared: Bool

            public init(
                directory: String,
                socket: String,
                version: String,
                shared: Bool
            ) {
                self.directory = directory
                self.socket = socket
                self.version = version
                self.shared = shared
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("directory", directory)
                    json.member("socket", socket)
                    json.member("version", version)
                    json.member("shared", shared)
                }
            }
        }
    }
}

extension Methods {
    /// Describes the service.
    public enum GetInfo: Method {
        public static let name = MethodName.getInfo

        public typealias Parameters = NoParameters

        public struct Reply: WireValue {
            /// The maker of the service.
            public var vendor: String
            /// The name of the service.
            public var product: String
            public var version: String
            /// The address of the documentation.
            public var url: String
            /// The names of the served interfaces.
            public var interfaces: [String]

            public init(
                vendor: String,
                product: String,
                version: String,
                url: String,
                interfaces: [String]
            ) {
                self.vendor = vendor
                self.product = product
                self.version = version
                self.url = url
                self.interfaces = interfaces
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("vendor", vendor)
                    json.member("product", product)
                    json.member("version", version)
                    json.member("url", url)
                    json.member("interfaces", interfaces)
                }
            }
        }
    }
}

extension Methods {
    /// Returns the description of an interface.
    public enum GetInterfaceDescription: Method {
        public static let name = MethodName.getInterfaceDescription

        public struct Parameters: WireValue {
            /// The name of the interface.
            public var interface: String

            public init(
                interface: String
            ) {
                self.interface = interface
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("interface", interface)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case interface
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                interface = try members.decode(String.self, forKey: .interface)
            }
        }

        public struct Reply: WireValue {
            /// The text of the description, including comments.
            public var description: String

            public init(
                description: String
            ) {
                self.description = description
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("description", description)
                }
            }
        }
    }
}
