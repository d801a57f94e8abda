// The addon against a cache directory: test.mjs CACHED-URL MISSING-URL PARTIAL-URL. The environment names the cache.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { Cache } from '../index.js'

const addon = createRequire(import.meta.url)('./peek.node')
const cache = new Cache()
const [cached, missing, inFlight] = process.argv.slice(2)

const item = cache.peek(cached)
assert.equal(item.state, 'cached')
assert.equal(item.sure, true)
assert.equal(item.mediaType, 'image/png')
assert.ok(item.size > 0 && item.width > 0 && item.path.startsWith(cache.directory))
assert.deepEqual(cache.peek(missing), { url: missing, state: 'missing', sure: true })
// Without the addon, this could be one that was interrupted.
const running = cache.peek(inFlight)
assert.equal(running.state, 'inFlight')
assert.ok(running.received > 0 && running.total > running.received)

// In a sandbox that sees the socket alone, the daemon hands over the file.
const sandboxed = new Cache({ directory: '/nonexistent' })
const file = await sandboxed.open(cached)
assert.equal((await file.readFile()).length, item.size)
await file.close()
await assert.rejects(sandboxed.open(missing), { kind: 'notCached' })
await assert.rejects(new Cache({ directory: '/nonexistent', socket: '/nonexistent/socket' }).open(cached), { kind: 'notCached' })

assert.throws(() => new Cache({ directory: '/dev/null' }).peek(cached), { kind: 'storage' })
assert.throws(() => cache.peek('x'.repeat(9000)), { kind: 'invalidURL' })
const handle = addon.open(cache.directory)
for (const wrong of [[], [1], [handle], [{}, cached], [handle, 5]]) assert.throws(() => addon.peek(...wrong), TypeError)
for (const wrong of [[], [5]]) assert.throws(() => addon.open(...wrong), TypeError)
for (const wrong of [[], [5], [cached], [cached, 5]]) assert.throws(() => addon.receive(...wrong), TypeError)
// More than there are descriptors.
for (let round = 0; round < 3000; round++) new Cache()
