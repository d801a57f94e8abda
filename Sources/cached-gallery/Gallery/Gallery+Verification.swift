import CacheWire
import ClientCore
import Glibc
import NIOCore
import NIOPosix

/// Comparing images with their digests, and showing files.
extension Gallery {
    struct Verification: Decodable {
        /// The view that hears of the progress when everything is verified.
        let view: String?
        /// The one image to verify.
        let key: String?
    }

    func verify(
        _ body: Verification, _ then: @escaping (Response) -> Void
    ) throws(Refusal) {
        if let key = body.key { return try verify(key: key, then) }
        guard let name = body.view else { throw .body }
        let view = try view(named: name)
        daemon.callAlone(Methods.Verify.self, .init(), more: true) { result in
            do throws(CallFailure) {
                let reply = try result.get()
                guard let progress: Methods.Verify.Reply = try? reply.decoded() else {
                    throw .misunderstood
                }
                view.events?.send("verify") { json in
                    json.member("checked", progress.checked)
                    json.member("total", progress.total)
                    json.member("damaged", progress.damagedCount ?? progress.damaged.count)
                    json.member("done", !reply.continues)
                }
            } catch {
                view.events?.send("verify") { json in
                    json.member("message", error.message)
                    json.member("done", true)
                }
            }
        }
        then(.json { _ in })
    }

    /// Reads the file of one image, and compares it with the digest that the daemon knows.
    private func verify(key: String, _ then: @escaping (Response) -> Void) throws(Refusal) {
        var key = key
        guard let name = key.withUTF8({ ImageName(text: UnsafeRawBufferPointer($0)) }) else {
            throw .body
        }
        daemon.call(Methods.Status.self, .init(urls: [], details: true, keys: [key])) {
            [self] result in
            do throws(CallFailure) {
                guard let item = try? result.get().decoded(ItemList.self).items.first else {
                    throw .misunderstood
                }
                guard let digest = item.sha256 else { throw .nothingToCompare }
                images.open(name) { [self] file in
                    guard let file = file?.takeDescriptor() else {
                        return then(.failure(.nothingToCompare))
                    }
                    compare(file, with: digest, of: item, then)
                }
            } catch {
                then(.failure(error))
            }
        }
    }

    private func compare(
        _ file: Int32, with digest: String, of item: Item, _ then: @escaping (Response) -> Void
    ) {
        let read = FileDigest.thread.runIfActive(eventLoop: daemon.loop) { FileDigest.of(file) }
        read.assumeIsolated().whenComplete { result in
            let found = (try? result.get()) ?? nil
            then(
                .json { json in
                    json.member("item", item)
                    json.member("isDamaged", found != digest)
                })
        }
    }

    struct Key: Decodable {
        let key: String
    }

    func open(_ body: Key, _ then: @escaping (Response) -> Void) throws(Refusal) {
        var key = body.key
        guard let name = key.withUTF8({ ImageName(text: UnsafeRawBufferPointer($0)) }),
            let directory = images.directory
        else { throw .body }
        if let obstacle = images.obstacle(to: name) { return then(.failure(.noFile(obstacle))) }
        guard FileManagerWindow.show("\(directory)/\(name.text)", in: directory) else {
            return then(.failure(.noFileManager))
        }
        then(.json { _ in })
    }
}

extension CallFailure {
    fileprivate static let nothingToCompare = CallFailure(
        message: "the image is not cached, or its digest is not known")
    fileprivate static func noFile(_ cause: Int32) -> CallFailure {
        CallFailure(
            message: cause == EACCES
                ? "you have no access to the cache directory, so no file manager can show the file"
                : "the image is not cached any more")
    }
    fileprivate static let noFileManager = CallFailure(
        message: "no file manager was found; install xdg-utils, or copy the path")
}
