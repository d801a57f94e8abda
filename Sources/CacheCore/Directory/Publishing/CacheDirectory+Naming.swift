internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
internal import SystemPackage

/// Giving a synced file the name of its entry.
extension CacheDirectory {
    /// Gives an image the name of its entry. A file that has that name is replaced.
    func giveName(
        to image: inout StagedImage, makeRoom: (CacheKey, Int64) -> Bool
    ) throws(Errno) {
        let key = image.key
        if image.isPlaced { return }
        let isNamed = image.isNamed
        if !isNamed {
            let isLinked = try kernel.storing({ makeRoom(key, 0) }) { [image] () throws(Errno) in
                try linked(image)
            }
            guard !isLinked else { return }
            image.isNamed = true
        }
        // Another program can have removed it, or the whole directory, and put something else there.
        let status = try kernel.status(of: image.descriptor)
        guard isSame(image.partialName, status) else { throw .noSuchFileOrDirectory }
        if image.original == nil { image.status = status }
        // Usually nothing has the name, so that no file with a pin or other names is replaced.
        if isNamed, try renamedAsNew(image, makeRoom) { return }
        try takePin(&image)
        let replaced = try linkedFile(named: image.name)
        try kernel.storing({ makeRoom(key, 0) }) { [image] () throws(Errno) in
            try kernel.rename(image.partialName, to: image.name, in: descriptor)
        }
        // A rename between two names of one file does nothing. rename(2)
        if image.original != nil { try unlinkIfPresent(image.partialName) }
        if let replaced, !isSame(image.name, replaced.descriptor) {
            removeAttributes(of: key, from: replaced)
        }
    }

    private func renamedAsNew(
        _ image: StagedImage, _ makeRoom: (CacheKey, Int64) -> Bool
    ) throws(Errno) -> Bool {
        try kernel.storing({ makeRoom(image.key, 0) }) { () throws(Errno) in
            try kernel.renameAsNew(image.partialName, to: image.name, in: descriptor)
        }
    }

    /// Gives a file without a name its first one. That is the name of its entry, with `true`; or the name of its
    /// partial, if something has the name of the entry, because only a rename replaces that.
    private func linked(_ image: StagedImage) throws(Errno) -> Bool {
        do {
            try kernel.link(image.descriptor, to: image.name, in: descriptor)
            return true
        } catch .fileExists {
            try linkAsPartial(image)
            return false
        }
    }

    private func linkAsPartial(_ image: StagedImage) throws(Errno) {
        do {
            try kernel.link(image.descriptor, to: image.partialName, in: descriptor)
        } catch .fileExists {
            try discardPartial(of: image.key)
            try kernel.link(image.descriptor, to: image.partialName, in: descriptor)
        }
    }

    /// An image is pinned if the file that it replaces is pinned. If that is no entry, or before the first scan, only
    /// the file says so.
    private func takePin(_ image: inout StagedImage) throws(Errno) {
        guard !image.record.isPinned, isPinned(image.key, name: image.name) else { return }
        image.record.isPinned = true
        image.status = nil
        try records.write(
            image.record, of: image.key, image.descriptor, withValidators: false)
        try kernel.synchronize(image.descriptor)
    }

    /// Removes the names of a file that did not become an entry. If that fails, the file loses its record.
    func removeNames(of image: StagedImage) {
        for name in [image.partialName, image.name] where isSame(name, image.descriptor) {
            do {
                try kernel.unlink(name, in: descriptor)
            } catch {
                removeRecord(of: image.key, image.descriptor)
            }
        }
    }

    /// Whether a name leads to the open file.
    func isSame(_ name: String, _ file: Int32) -> Bool {
        ifPossible { () throws(Errno) in isSame(name, try kernel.status(of: file)) } == true
    }

    private func isSame(_ name: String, _ opened: stat) -> Bool {
        ifPossible { () throws(Errno) in
            Identity(try kernel.status(of: name, in: descriptor))
        } == Identity(opened)
    }
}
