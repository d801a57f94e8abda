import CLinux
import CacheDisk
import CacheFetching
public import CacheKey
import CacheModel
public import CacheValues
import Glibc
internal import SystemPackage

/// Handing over files of images.
extension Cache {
    /// Opens the file of a cached image, which counts as a use. An image that is not cached is a failure.
    public func open(_ key: CacheKey) -> Result<OpenImage, Failure> {
        guard directory.isInPlace else { return .failure(directory.lost) }
        // A file that is replaced between the lookup and the opening is looked up again.
        for _ in 0..<8 {
            guard lookup([key])[0].isCached else { return .failure(.notCached) }
            do {
                if let image = try opened(key) {
                    run { state, _ in state.disk.used(key, at: .now) }
                    return .success(image)
                }
                run { state, _ in state.disk.becameDirty(key) }
            } catch .noSuchFileOrDirectory {
                run { state, _ in state.disk.becameDirty(key) }
            } catch .tooManyOpenFiles, .tooManyOpenFilesInSystem {
                return .failure(.tooManyFiles)
            } catch {
                return .failure(.unreadable(error, path: path(of: key)))
            }
        }
        return .failure(.notCached)
    }

    /// The file, with the facts of its own record: the index can still know the file before it. `nil` if the name has
    /// led to several files in the meantime.
    private func opened(_ key: CacheKey) throws(Errno) -> OpenImage? {
        let name = key.description
        // A FIFO that was put there would block the call otherwise.
        let flags = O_RDONLY | O_NONBLOCK
        let file = try directory.kernel.open(name, in: directory.descriptor, flags)
        let found: Result<EntryFacts, Damage>?
        do {
            found = try directory.inspect(key, name: name)
        } catch {
            close(file)
            throw error
        }
        guard case .success(let facts)? = found else {
            close(file)
            return nil
        }
        let image = OpenImage(facts: facts, descriptor: file)
        let size = try directory.kernel.status(of: file).st_size
        return size == facts.size && directory.isSame(name, file) ? image : nil
    }
}

extension Failure {
    fileprivate static let tooManyFiles = Failure(
        .tooManyFiles, "the daemon has too many files open; try again, or raise its limit of files")
}
