// The suite drives a cache by fetch(). This adapter replaces fetch() for the URL of a test: it asks the
// daemon and reads the file that the daemon names. It remembers nothing between two calls and decides
// nothing.
//
// The suite checks the head of each response too, and a file has no head. The origin therefore sends each
// response with its own head in front of the body (origin.mjs). The file holds both, and the adapter
// answers with both. An answer from the cache has the head of the stored response, and the request count
// of the time when it was stored.
//
// If the daemon answers with a failure, there is no file. The status is then the daemon's. The rest of the
// answer is the response that the origin sent during this call, if it was asked at all.

import fs from 'node:fs'
import { register } from 'node:module'

import { split } from './envelope.mjs'

export function adaptFetch (daemon, origin) {
  const realFetch = globalThis.fetch
  globalThis.fetch = async (url, init = {}) => {
    if (!new URL(url).pathname.startsWith('/test/')) return realFetch(url, init)
    const call = origin.begin(url, init.headers)
    try {
      const item = await daemon.fetch(url, init.signal)
      return item.failure || item.state !== 'cached' ? failed(item, call) : stored(item)
    } finally {
      call.end()
    }
  }
}

// The suite collects interim responses by a dispatcher of undici. A file has no interim responses, so an
// empty stand-in is enough and the package itself is not needed.
export function standInForUndici () {
  const undici = 'data:text/javascript,export class Agent { compose () {} }'
  const hooks = `export const resolve = (name, context, next) => name === 'undici'
    ? { url: '${undici}', shortCircuit: true } : next(name, context)`
  register(`data:text/javascript,${encodeURIComponent(hooks)}`)
}

function stored (item) {
  return response(fs.readFileSync(item.path))
}

function failed (item, call) {
  const status = item.failure?.httpStatus
  const sent = call.sent.findLast(envelope => split(envelope).status === status)
  if (sent) return response(sent)
  // A cache that cannot reach the origin answers 504 (RFC 9110 §15.6.5).
  return new Response(item.failure?.message ?? item.state, { status: status ?? 504 })
}

function response (envelope) {
  const { status, reason, fields, body } = split(envelope)
  const headers = new Headers()
  for (const [name, value] of fields) headers.append(name, value)
  const mayHaveBody = ![204, 304].includes(status)
  return new Response(mayHaveBody ? body : null, { status, statusText: reason, headers })
}
