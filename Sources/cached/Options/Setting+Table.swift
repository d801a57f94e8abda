import CacheCore
import CacheFetching
import CacheValues
import HTTPCaching
import Logging

/// The table of settings. The options, the environment, the configuration file, `--print-config`, `etc/cached.conf`
/// and docs/lookup/settings.md have the rows in this order.
extension Setting {
    static let sections: [(title: String, rows: [Setting])] = [
        ("Places and access", places), ("Space", space), ("Downloads", downloads),
        ("Accepted images and servers", servers), ("Freshness and names", freshness),
        ("A store that several machines share", store), ("Memory pressure", pressure),
        ("Rights and log", rights),
    ]

    private static let places: [Setting] = [
        Setting(
            "CACHED_DIRECTORY", .text("PATH"),
            otherwise: """
                $CACHE_DIRECTORY, which systemd sets to /var/cache/cached for the machine's daemon, \
                else $XDG_CACHE_HOME/cached, else ~/.cache/cached
                """, restart: true,
            """
            The folder of the images, an absolute path. Programs look in the default place without \
            reading this file: they need the same variable in their environment. A mount at the default \
            place needs neither.
            """, inForce: { $0.cache.directory }
        ) { $0.cache.directory = $1 },
        Setting(
            "CACHED_SOCKET", .text("PATH"),
            otherwise: "$XDG_RUNTIME_DIR/cached/cached.sock, else /run/cached/cached.sock",
            restart: true, "The path of the socket. Clients look in both of the default places.",
            inForce: { $0.socket }
        ) { $0.socket = $1 },
        Setting(
            "CACHED_SOCKET_MODE", .permissions, default: "600", restart: true,
            """
            The permissions of the socket, in octal. 600 admits only the daemon's own user, 660 its \
            group as well, and 666 everyone.
            """
        ) { $0.socketMode = $1 },
        Setting(
            "CACHED_SOCKET_GROUP", .group, otherwise: "the group of the daemon's process",
            restart: true,
            """
            The group whose members may connect in addition to the owner of the socket. The permissions \
            are 660 then, unless they are set.
            """
        ) { $0.socketGroup = $1 },
        Setting(
            "CACHED_MANAGERS", .managers,
            """
            Users and groups who may remove, pin, evict and repair images, as the daemon's own user \
            and root may.
            """
        ) { $0.managers = $1 },
        Setting(
            "CACHED_IDLE_EXIT", .time(from: .milliseconds(1)), otherwise: "never",
            restart: true,
            """
            The time without clients and downloads after which the daemon ends, such as 10min. It \
            is useful if the service manager starts the daemon at the first call.
            """
        ) { $0.idleExit = $1 },
        Setting(
            "CACHED_SHARED", .answer,
            otherwise: """
                yes with a store, and for a socket in /run/cached or one that other users may \
                connect to; else no
                """, restart: true,
            "Whether several users share the cache. A shared cache keeps no private images.",
            inForce: { $0.cache.transfers.caching.isShared ? "yes" : "no" }
        ) { $0.isShared = $1 },
    ]

    private static let space: [Setting] = [
        Setting(
            "CACHED_MAX_BYTES", .size(),
            otherwise: "10 % of the file system or 10GiB, whichever is smaller",
            """
            The largest size of the cache on the disk. Beyond it, images are evicted, never-used \
            first, then the least recently used.
            """
        ) { $0.cache.limits.maximumBytes = $1 },
        Setting(
            "CACHED_MIN_FREE", .size(from: 0),
            otherwise: "5 % of the file system or 1GiB, whichever is smaller",
            "The free space that the cache leaves on the file system for other programs."
        ) { $0.cache.limits.minimumFree = $1 },
        Setting(
            "CACHED_MAX_ENTRIES", .count(), otherwise: "no limit",
            "The largest number of images. Each takes an inode of the file system."
        ) { $0.cache.limits.maximumEntries = $1 },
        Setting(
            "CACHED_MAX_UNUSED", .time(from: .seconds(1)), otherwise: "never",
            """
            The time after which images are evicted that nobody used, such as 90d. Pinned images stay. \
            The daemon looks once an hour.
            """
        ) { $0.cache.limits.maximumUnused = $1 },
        Setting(
            "CACHED_MAX_IMAGE_BYTES", .size(), default: "64MiB",
            """
            The largest image that is accepted. It protects the disk against servers that send \
            without an end.
            """
        ) { $0.cache.limits.maximumImageSize = $1 },
        Setting(
            "CACHED_MAX_PIXELS", .count(), default: "1000000000",
            """
            The largest number of stored pixels of an image, width times height. A few bytes can promise \
            more than any program that shows images can hold in memory.
            """
        ) { $0.cache.transfers.maximumPixels = $1 },
    ]

    private static let downloads: [Setting] = [
        Setting(
            "CACHED_MAX_TRANSFERS", .count(upTo: 1000), default: "64",
            """
            The largest number of downloads at once, up to 1000. Each needs a connection and a file.
            """
        ) { $0.cache.transfers.transferLimit = $1 },
        Setting(
            "CACHED_MAX_TRANSFERS_PER_HOST", .count(upTo: 1000), default: "6",
            """
            The largest number of downloads at once from one origin (scheme, host and port) that \
            does not speak HTTP/2, up to 1000. Browsers use six, and many servers refuse more.
            """
        ) { $0.cache.transfers.transfersPerHost = $1 },
        Setting(
            "CACHED_MAX_RATE", .size(), otherwise: "no limit",
            "The largest number of bytes a second, all downloads together, such as 2MB."
        ) { $0.cache.transfers.maximumRate = $1 },
        Setting(
            "CACHED_PREFETCH", .answer, default: "yes",
            """
            Whether images are downloaded for which no user waits: those of priority background, and \
            stale ones that are confirmed in the background. With no, they stay queued.
            """
        ) { $0.cache.permitsPrefetches = $1 },
        Setting(
            "CACHED_ATTEMPTS", .count(), default: "4",
            """
            How many times a download is attempted before it fails, the first attempt included. The \
            pauses between attempts grow.
            """
        ) { $0.cache.retry.attempts = $1 },
    ]

    private static let servers: [Setting] = [
        Setting(
            "CACHED_ALLOW_NETWORK", .list(of: .network),
            """
            Networks that the daemon may connect to although they are not the public Internet, such \
            as 10.0.0.0/8. It refuses all others, because any caller could reach services on this \
            machine and in its networks through the daemon.
            """
        ) { $0.cache.transfers.addressPolicy = AddressPolicy(allowing: $1) },
        Setting(
            "CACHED_ACCEPT", .list(of: SettingKind(words: ["svg", "any"]) { $0 }),
            otherwise: "neither",
            """
            The files to accept in addition to the usual image formats. An SVG can contain scripts; any \
            stands for every kind of file.
            """
        ) {
            $0.cache.transfers.acceptsSVG = $1.contains("svg")
            $0.cache.transfers.acceptsAnything = $1.contains("any")
        },
        Setting(
            "CACHED_CA_FILE", .certificates,
            """
            A PEM file of certificates to trust in addition to the system's, such as that of an office's \
            own authority.
            """
        ) { $0.cache.transfers.certificateFile = $1 },
        Setting(
            "CACHED_CA_ONLY", .answer, default: "no",
            "Whether only the certificates of CACHED_CA_FILE are trusted."
        ) { $0.cache.transfers.trustsOnlyCertificateFile = $1 },
        Setting(
            "CACHED_PROXY", .proxy,
            """
            The proxy for all requests, such as http://proxy.example.org:3128. The variables \
            http_proxy and the like are ignored, because the daemon serves several programs. With \
            socks5h, the proxy looks names up, and only literal addresses can be refused.
            """, inForce: { $0.cache.transfers.proxy?.url ?? "" }
        ) { $0.cache.transfers.proxy = ProxyChoice($1) },
        Setting(
            "CACHED_PROXY_LOGIN", .proxyLogin,
            """
            A file with a line USER:PASSWORD for the proxy, which only its owner can read.
            """
        ) { $0.proxyLogin = $1 },
        Setting(
            "CACHED_NO_PROXY", .list(of: .proxyException),
            """
            Hosts that are reached without the proxy. A name stands for its subdomains too, and a network \
            such as 10.0.0.0/8 for the addresses in it.
            """
        ) { $0.noProxy = $1 },
        Setting(
            "CACHED_CONTACT", .headerText("ADDRESS"),
            """
            A web or mail address at which servers can reach you. It becomes part of the User-Agent. \
            Some hosts, such as Wikimedia's, refuse requests without one.
            """
        ) { $0.contact = $1 },
        Setting(
            "CACHED_USER_AGENT", .headerText("TEXT"),
            otherwise: "cached/VERSION, with (+CONTACT) if there is one",
            "The whole User-Agent.", inForce: { $0.cache.transfers.userAgent }
        ) { $0.userAgent = $1 },
    ]

    private static let freshness: [Setting] = [
        Setting(
            "CACHED_DEFAULT_FRESHNESS", .seconds, default: "1h",
            """
            How long an image is fresh if its server does not say. After that the daemon asks the \
            server whether the image has changed.
            """
        ) { $0.cache.transfers.caching.unknownLifetime = $1 },
        Setting(
            "CACHED_MIN_FRESHNESS", .minimumFreshness,
            """
            How long images of a host are fresh at least, whatever their server says, unless it \
            forbids keeping them. A rule is a host, a colon and a time, such as *.example.net:7d. In a \
            host, * stands for any characters but a dot. The longest host that fits counts.
            """
        ) { $0.cache.transfers.caching.minimumFreshness = $1 },
        Setting(
            "CACHED_STALE_IF_ERROR", .seconds, default: "24h",
            "How long a stale image is used while its server fails, if the server does not say."
        ) { $0.cache.transfers.caching.staleIfError = $1 },
        Setting(
            "CACHED_GONE", SettingKind(words: ["remove", "keep"]) { $0 }, default: "remove",
            """
            Whether an image is removed or kept when its server answers that it is gone (404, 410). A kept \
            image is as stale as before, and a pinned one is always kept.
            """
        ) { $0.cache.keepsGone = $1 == "keep" },
        Setting(
            "CACHED_IGNORE_QUERY", .ignoredQueries,
            """
            Parameters of queries that do not count in the names of images, so that a new signature \
            of a URL means the same image. A rule is a host, a colon, and parameters with commas \
            between them, such as s3.*.amazonaws.com:X-Amz-*. In a host, * stands for any characters \
            but a dot.
            """
        ) { $0.cache.ignoredQueries = $1 },
    ]

    private static let store: [Setting] = [
        Setting(
            "CACHED_STORE", .text("s3://BUCKET/PREFIX"), restart: true,
            """
            A bucket in a store that speaks S3. Images are looked for there before their servers are \
            asked, and put there after they were downloaded. Without this setting, the others of the \
            store do not count.
            """
        ) { $0.store.bucket = $1 },
        Setting(
            "CACHED_STORE_ENDPOINT", .text("URL"),
            otherwise: "AWS_ENDPOINT_URL_S3, else AWS_ENDPOINT_URL, else AWS itself", restart: true,
            "The server of the bucket, such as https://store.example.org:8000."
        ) { $0.store.endpoint = $1 },
        Setting(
            "CACHED_STORE_REGION", .text("NAME"),
            otherwise: "AWS_REGION, else AWS_DEFAULT_REGION, else us-east-1", restart: true,
            "The region of the bucket."
        ) { $0.store.region = $1 },
        Setting(
            "CACHED_STORE_STYLE", .choice, otherwise: "virtual for amazonaws.com, else path",
            restart: true, "The place of the bucket's name in a URL."
        ) { $0.store.style = $1 },
        Setting(
            "CACHED_STORE_CREDENTIALS", .credentials,
            otherwise: """
                searched for in the environment, at the service that it names, in the service \
                manager's credential named aws, and in ~/.aws/credentials
                """, restart: true,
            """
            none, for a bucket that everybody may read, or instance, for those of a virtual machine \
            at AWS from its metadata service.
            """
        ) { $0.store.credentials = $1 },
        Setting(
            "CACHED_STORE_MODE", SettingKind(words: ["read-write", "read", "write"]) { $0 },
            default: "read-write", restart: true,
            """
            Whether the daemon reads from the bucket and writes to it. The policy of its key is what \
            really protects the bucket.
            """
        ) { ($0.store.policy.reads, $0.store.policy.writes) = ($1 != "write", $1 != "read") },
        Setting(
            "CACHED_STORE_TIMEOUT", .time(from: .milliseconds(10), to: .seconds(60)), default: "1s",
            restart: true,
            "How long a download waits for the store at most before it asks its server."
        ) { $0.store.policy.timeout = $1 },
        Setting(
            "CACHED_STORE_PRIVATE", .answer, default: "no", restart: true,
            """
            Whether images of private addresses and names are shared too: those that are not of the \
            public Internet, localhost, names without a dot, and those below .local, .internal and \
            .home.arpa. They can be other images on another network. All machines of the store need \
            the same value.
            """
        ) { $0.cache.transfers.keepsLocalImages = !$1 },
        Setting(
            "CACHED_STORE_MAX_RATE", .size(),
            otherwise: "a quarter of CACHED_MAX_RATE, if that is set",
            restart: true, "The largest number of bytes a second that all uploads together send."
        ) { $0.store.maximumRate = $1 },
        Setting(
            "CACHED_STORE_SIGN", .signingKey, restart: true,
            """
            A file with the private key by which this machine signs what it puts into the bucket. \
            `cachectl store key NAME FILE` makes one.
            """
        ) { $0.store.signing = $1 },
        Setting(
            "CACHED_STORE_TRUST", .trustedKeys, restart: true,
            """
            A file with public keys, one a line. Objects that none of them has signed do not count. \
            Without it, whoever may write to the bucket is believed.
            """
        ) { $0.store.trusted = $1 },
    ]

    private static let pressure: [Setting] = [
        Setting(
            "CACHED_PRESSURE_EVICTS", .choice, default: "auto",
            """
            The pressure that evicts images. auto: requests, reports of the service manager, and \
            pressure that the daemon found if evicting helps; always: all pressure; never: only \
            requests.
            """
        ) { $0.pressureEvicts = $1 }
    ]

    private static let rights: [Setting] = [
        Setting(
            "CACHED_RESTRICT", .choice, default: "auto", restart: true,
            """
            Whether the daemon gives up the rights that it does not need after its start. With yes it \
            can change files in its directory only, and ends if the directory is removed; with \
            partly, it keeps the rights over files. auto is yes for a daemon that a service manager \
            or a client has started, because the next call starts it again, and partly for others.
            """
        ) { $0.restriction = $1 },
        Setting(
            "CACHED_LOG_LEVEL", .choice, default: "info",
            """
            The least severe messages that are logged. Failed downloads are logged at info, at most \
            five a minute for each host.
            """
        ) { $0.log.level = $1 },
        Setting(
            "CACHED_LOG_FORMAT",
            SettingKind(words: ["auto", "text", "journal", "json"]) {
                LogFormat(rawValue: $0) ?? .usual
            }, default: "auto",
            """
            The form of the log: text with times, journal with priorities, or json with one object a \
            line. auto is journal if the journal reads the log, and text if not.
            """, inForce: { $0.log.format.rawValue }
        ) { $0.log.format = $1 },
        Setting(
            "CACHED_LOG_QUERIES", .answer, default: "no",
            """
            Whether the log shows the queries of URLs. They can contain secrets, such as signatures.
            """
        ) { $0.log.showsQueries = $1 },
    ]
}
