/** The name of an image's file, its variants, the cache directory, and the daemon's socket. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { CacheError } from './item.js'

/** The limit of the daemon, in bytes. */
const longestURL = 8192
const namespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex')

/** The name of the file of a URL: its UUIDv5 in the URL namespace (RFC 9562 §5.5). */
export function name(url) {
  if (/\p{Cs}/u.test(url)) {
    throw new CacheError('invalidURL', 'the URL has a lone surrogate; percent-encode it')
  }
  const text = createHash('sha1').update(namespace).update(url).digest('hex')
  const variant = '89ab'[parseInt(text[16], 16) & 3]
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-5${text.slice(13, 16)}-${variant}${text.slice(17, 20)}-${text.slice(20, 32)}`
}

/** The sizes that the cache makes, in pixels. */
export const sides = [32, 64, 128, 256, 512, 1024, 2048]

/** The URL of a variant of an image: `URL#as=ada&side=256`. */
export function variant(url, { side, account } = {}) {
  let text = url
  if (account !== undefined) {
    if (/\p{Cs}/u.test(account)) throw new CacheError('invalidURL', 'the account has a lone surrogate; choose another name')
    const encoded = encodeURIComponent(account).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    text += `#as=${encoded}`
  }
  const size = side === undefined ? undefined : sides.find((each) => each >= side)
  return size === undefined ? text : `${text}${text.includes('#') ? '&' : '#'}side=${size}`
}

/** Throws CacheError `invalidURL` if the daemon would refuse the length of a URL. */
export function check(url) {
  if (url.length * 3 > longestURL && Buffer.byteLength(url) > longestURL) {
    throw new CacheError('invalidURL', `the URL ${url.slice(0, 40)}… is longer than ${longestURL} bytes; shorten it`)
  }
}

const absolute = (path) => (path?.startsWith('/') ? path : undefined)

/** The daemon that serves the whole machine. */
const machine = { socket: '/run/cached/cached.sock', directory: '/var/cache/cached' }

/**
 * The cache directory, unless the application names one: that of the machine's daemon if its socket is the first of
 * `sockets` that exists.
 */
export function directory(socket, { env } = process) {
  if (env.CACHED_DIRECTORY) return env.CACHED_DIRECTORY
  const found = (socket ? [socket] : sockets({ env })).find(existsSync)
  return found === machine.socket && existsSync(machine.directory) ? machine.directory : `${caches({ env })}/cached`
}

/** The folder of the user's caches. */
export function caches({ env } = process) {
  return absolute(env.XDG_CACHE_HOME) ?? env.LOCALAPPDATA ?? `${homedir()}/.cache`
}

/** The sockets of the daemon in their order, unless the application names one. */
export function sockets({ env } = process) {
  if (env.CACHED_SOCKET) return [env.CACHED_SOCKET]
  const runtime = absolute(env.XDG_RUNTIME_DIR)
  const own = runtime ? [`${runtime}/cached/cached.sock`] : []
  return [...own, machine.socket]
}
