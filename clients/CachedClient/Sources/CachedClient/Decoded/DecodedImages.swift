internal import Synchronization

/// Decoded images in memory. The least recently used are released when the cost of all exceeds a limit.
///
///     let textures = DecodedImages<Texture>(limit: 64 << 20)
///     let texture = try await textures.value(of: file, size: cell) { file in
///         let texture = try decode(file.path, cell)
///         return (texture, cost: texture.width * texture.height * 4)
///     }
///
/// At the level `warning` half of them are released, at `critical` all. The files stay.
public final class DecodedImages<Value: Sendable>: Sendable {
    /// Decodes a file, and returns the value with its cost, for example its bytes.
    public typealias Decode = @Sendable (ImageFile) async throws -> (value: Value, cost: Int)

    private let table: Mutex<DecodedTable<Value>>
    private let watch: Mutex<Task<Void, Never>?>

    /// - Parameters:
    ///   - limit: the sum of costs, in the unit that `decode` returns.
    ///   - cache: reports the memory pressure.
    public init(limit: Int, of cache: ImageCache = .shared) {
        table = Mutex(DecodedTable(limit: limit))
        watch = Mutex(nil)
        let task = Task { [weak self] in
            for await level in cache.pressure {
                guard let self else { return }
                react(to: level)
            }
        }
        watch.withLock { $0 = task }
    }

    deinit {
        watch.withLock { $0?.cancel() }
    }

    /// The value of a file at a size. The file is decoded once for all callers.
    ///
    /// - Throws: what `decode` throws. The next call decodes again.
    public func value(
        of file: ImageFile, size: PixelSize? = nil, decode: @escaping Decode
    ) async throws -> Value {
        let key = DecodedKey(file, size)
        let task = table.withLock { table in
            table.task(of: key) {
                Task { [weak self] in
                    do {
                        let (value, cost) = try await decode(file)
                        self?.table.withLock { $0.finish(key, value, cost) }
                        return value
                    } catch {
                        self?.table.withLock { $0.fail(key) }
                        throw error
                    }
                }
            }
        }
        return try await task.value
    }

    /// The value, if it is decoded already. The call counts as a use.
    public subscript(file: ImageFile, size: PixelSize? = nil) -> Value? {
        table.withLock { $0.value(of: DecodedKey(file, size)) }
    }

    /// The sum of costs.
    public var cost: Int { table.withLock { $0.cost } }

    /// Releases all values, for applications that notice a shortage of memory themselves.
    public func removeAll() {
        table.withLock { $0.shrink(to: 0) }
    }

    private func react(to level: MemoryPressure) {
        table.withLock { table in
            switch level {
            case .normal: return
            case .warning: table.shrink(to: table.cost / 2)
            case .critical: table.shrink(to: 0)
            }
        }
    }
}
