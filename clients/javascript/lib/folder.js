/**
 * The cache directory, read without the daemon. Node.js reads neither extended attributes nor locks.
 * So it cannot distinguish an image from a copy that lost its attributes, or a running download from
 * an interrupted one. Such an item has `sure: false`. With the addon, every item is sure.
 */
import { lstatSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { CacheError } from './item.js'
import { check, name } from './places.js'

const quietly = { throwIfNoEntry: false }
const readableForItsOwner = 0o400

/** The addon, if `addon/build` has built it. */
const addon = (() => {
  try {
    return createRequire(import.meta.url)('../addon/peek.node')
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') process.emitWarning(`cached-client: peek is not sure: ${error.message}`)
  }
})()

/** Promises a descriptor of an image's file from the daemon at a socket, or a negative number; undefined without the addon. */
export const receive = addon?.receive

/** The handle of a directory: each has descriptors, so there is one for all that look into it. */
const handles = new Map()
function handleOf(path) {
  if (addon && !handles.has(path)) handles.set(path, addon.open(path))
  return handles.get(path)
}

export class Folder {
  #prefix
  #handle

  constructor(path) {
    this.path = resolve(path)
    this.#handle = handleOf(this.path)
    this.#prefix = this.path.replace(/\/$/, '') + '/'
  }

  /** The state of an image. CacheError `storage`, `notPermitted` or `invalidURL` if there is none. */
  find(url) {
    check(url)
    if (this.#handle) return this.#seen(addon.peek(this.#handle, url))
    const path = this.#prefix + name(url)
    // Other systems have neither the daemon nor owners.
    const owner = process.geteuid ? this.#owner() : undefined
    if (owner === undefined) return { url, state: 'missing', sure: true }
    try {
      const file = lstatSync(path, quietly)
      if (file?.isFile() && file.size > 0 && file.uid === owner && file.mode & readableForItsOwner) {
        return { url, state: 'cached', path, size: file.size, sure: false }
      }
      const partial = lstatSync(path + '.part', quietly)
      if (partial?.isFile()) return { url, state: 'missing', received: partial.size, sure: false }
    } catch (error) {
      if (error.code !== 'EACCES') throw unreadable(this.path, error)
      throw new CacheError('notPermitted', `may not look into ${this.path}; use load, which asks the daemon`)
    }
    return { url, state: 'missing', sure: true }
  }

  #seen({ kind, message, ...item }) {
    if (item.state === 'failed') throw new CacheError(kind, message)
    return { ...item, sure: true }
  }

  /** The owner of the directory; undefined if there is no directory. */
  #owner() {
    let status
    try {
      status = lstatSync(this.path, quietly)
    } catch (error) {
      throw unreadable(this.path, error)
    }
    if (status === undefined) return undefined
    if (status.isSymbolicLink()) {
      throw new CacheError('storage', `${this.path} is a symbolic link; name the directory it leads to`)
    }
    if (!status.isDirectory()) {
      throw new CacheError('storage', `${this.path} is not a directory; name the cache directory`)
    }
    if (status.uid !== process.geteuid() && !isOfTheSystem(status.uid)) {
      throw new CacheError('notPermitted', `${this.path} belongs to user ${status.uid}; name a directory of your own`)
    }
    return status.uid
  }
}

const unreadable = (path, error) =>
  new CacheError('storage', `cannot look at the cache directory ${path}: ${error.message}`)

/** Whether a user is not a person: root, a system account, or a dynamic user of systemd. */
const isOfTheSystem = (user) => user < 1000 || (user >= 61184 && user <= 65519)
