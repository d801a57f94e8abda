/**
 * Images of the cache under a scheme of their own, for `protocol.handle` of Electron:
 *
 *     protocol.handle('cached-image', protocolHandler(cache))
 *     <img src="cached-image://load/?url=https%3A%2F%2Fexample.com%2Fa.png">
 */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { CacheError } from './lib/item.js'

/** The address of an image in a page. */
export function imageAddress(url, scheme = 'cached-image') {
  return `${scheme}://load/?url=${encodeURIComponent(url)}`
}

/** A function from a Request to a Response. The download ends with the signal of the request. */
export function protocolHandler(cache, { priority = 'visible' } = {}) {
  return async (request) => {
    if (request.method !== 'GET') return refusal(405, 'only GET is possible')
    const url = new URL(request.url).searchParams.get('url')
    if (!url) return refusal(400, 'the address has no url; make it with imageAddress')
    try {
      return await response(await cache.get(url, { priority, signal: request.signal }))
    } catch (error) {
      if (request.signal?.aborted) throw error
      return refusal(statuses[error.kind] ?? error.httpStatus ?? 502, error.message)
    }
  }
}

const statuses = { noDaemon: 504, invalidURL: 400 }

async function response(item) {
  const file = await open(item.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const status = await file.stat()
  if (!status.isFile()) {
    await file.close()
    throw new CacheError('badReply', `${item.path} is not a regular file; name the right daemon`)
  }
  // The length of the file that is open, which can be a newer version than the one reported.
  const headers = { 'Content-Length': String(status.size), 'Cache-Control': 'no-cache' }
  if (item.mediaType) headers['Content-Type'] = item.mediaType
  return new Response(Readable.toWeb(file.createReadStream()), { headers })
}

function refusal(status, message) {
  return new Response(message, { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
}
