// The suite drives a cache by fetch(). Here fetch() of a test's URL becomes: ask the daemon, then read
// the file it names. The adapter remembers nothing between two calls and decides nothing.
//
// The suite checks the head of each response too, and a file has no head. So the origin sends each
// response with its own head in front of the body (origin.mjs); what the file holds is both, and what
// is answered is what the file holds. An answer from the cache therefore has the head of the response
// that is stored, and its count of requests is that of the day it was stored.
//
// A failure is no file. Its status is the daemon's word; the rest of the answer is what the origin sent
// while this very call was under way, if it was asked at all.

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

// The suite collects interim responses by a dispatcher of undici's. A file has none, so that none are
// collected, whoever would: the package itself is not needed for that.
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
  // A cache that can't reach the origin says so by 504 (RFC 9110 §15.6.5).
  return new Response(item.failure?.message ?? item.state, { status: status ?? 504 })
}

function response (envelope) {
  const { status, reason, fields, body } = split(envelope)
  const headers = new Headers()
  for (const [name, value] of fields) headers.append(name, value)
  const mayHaveBody = ![204, 304].includes(status)
  return new Response(mayHaveBody ? body : null, { status, statusText: reason, headers })
}
