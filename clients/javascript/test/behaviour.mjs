// What the client promises: node behaviour.mjs TEST DIRECTORY SOCKET ORIGIN.
//
// The origin has the images /0.png to /999.png, and /slow/0.png to /slow/119.png of 200,000 bytes, which
// end only when the caller has read the line `open`. The caller restarts the daemon when it reads the line
// `restart`.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync
} from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import { Cache, CacheError, name } from '../index.js'
import { imageAddress, protocolHandler } from '../electron.js'

const [test, directory, socket, origin] = process.argv.slice(2)
const missing = 'http://missing.example/a.png'
const cache = new Cache({ directory, socket })
const plain = (from, to) => Array.from({ length: to - from }, (_, index) => `${origin}/${from + index}.png`)
const slow = (from, to) => Array.from({ length: to - from }, (_, index) => `${origin}/slow/${from + index}.png`)

/** The number of open descriptors, without those of /dev/null: Node.js opens one with its first socket. */
function descriptors() {
  const files = readdirSync('/proc/self/fd').map((number) => {
    try {
      return readlinkSync(`/proc/self/fd/${number}`)
    } catch {
      return '/dev/null' // That of the list itself.
    }
  })
  return files.filter((file) => file !== '/dev/null').length
}

async function last(load) {
  const items = {}
  for await (const item of load) items[item.url] = item
  return items
}

const kinds = async (load) => [...new Set(Object.values(await last(load)).map((item) => item.failure?.kind))]

async function kindOf(action) {
  try {
    await action()
  } catch (error) {
    assert(error instanceof CacheError && error.message && error.message.length < 400, error)
    return error.kind
  }
  throw new Error(`${action} did not fail`)
}

async function waitUntil(condition) {
  for (const end = Date.now() + 10_000; !(await condition()); await sleep(5)) assert(Date.now() < end, 'too long')
}

const tests = {
  async loads() {
    const secret = `${origin}/private.png#as=`
    assert.equal(await kindOf(() => cache.get(secret + 'bob')), 'http')
    assert.equal((await cache.get(secret + 'ada', { headers: { Authorization: 'Bearer ada' } })).state, 'cached')
    assert.equal((await cache.get(secret + 'ada')).state, 'cached')
    const [a, none] = [`${origin}/0.png`, `${origin}/none.png`]
    assert.deepEqual(cache.peek(a), { url: a, state: 'missing', sure: true })
    const items = await last(cache.load([a, none, 'nonsense', a, 'http://a.example/' + 'a'.repeat(9000)]))
    assert.equal(Object.values(items).filter((item) => item.state === 'failed').length, 3)
    assert(items[a].state === 'cached' && items[a].sure)
    assert(items[none].failure.kind === 'http' && items[none].failure.httpStatus === 404)
    assert.deepEqual(cache.peek(a), { url: a, state: 'cached', path: items[a].path, size: items[a].size, sure: false })
    assert.equal((await cache.get(a)).path, items[a].path)
    assert.equal(await kindOf(() => cache.get(none)), 'http')
    assert.deepEqual((await cache.status([missing, a])).map((item) => item.state), ['missing', 'cached'])
    // A copy without attributes is no image, which only the daemon knows.
    writeFileSync(`${directory}/${name(missing)}`, 'text')
    assert(cache.peek(missing).state === 'cached' && !cache.peek(missing).sure)
    assert.equal((await cache.status([missing]))[0].state, 'missing')
  },

  // 120 images through a window of 10: a download that leaves the window stops within 200 ms.
  async aWindow() {
    let longest = 0
    const load = cache.load([], { follow: true })
    for (let start = 0; start < 120; start += 10) {
      const window = new Set(slow(start, start + 10))
      const began = performance.now()
      load.show(window, 'visible')
      const before = start ? slow(start - 10, start) : []
      while ((await cache.status(before)).some((item) => item.state === 'inFlight'));
      longest = Math.max(longest, performance.now() - began)
      for (const unseen = new Set(window); unseen.size;) {
        const { value } = await load.next()
        assert(window.has(value.url) && value.state === 'inFlight', value.url)
        unseen.delete(value.url)
      }
    }
    assert(longest < 200, `${longest}`)
    console.log('open')
    for (const done = new Set(); done.size < 10;) {
      const { value } = await load.next()
      assert(['inFlight', 'cached'].includes(value.state))
      if (value.state === 'cached') done.add(value.url)
    }
    load.close()
    assert((await load.next()).done)
    console.log(`dropped in ${longest.toFixed()} ms`)
  },

  async leavingEndsDownloads() {
    const controller = new AbortController()
    for await (const item of cache.load(slow(0, 1))) if (item.received) break
    await assert.rejects(async () => {
      for await (const item of cache.load(slow(1, 2), { signal: controller.signal })) if (item.received) controller.abort()
    }, { name: 'AbortError' })
    await assert.rejects(last(cache.load([missing], { signal: controller.signal })), { name: 'AbortError' })
    await waitUntil(async () => (await cache.status(slow(0, 2))).every((item) => item.state === 'missing'))
  },

  async aRestart() {
    const urls = [...plain(0, 900), ...slow(0, 100)]
    const cached = new Set()
    for await (const item of cache.load(urls)) {
      // A daemon that stops can report an interrupted download.
      assert.notEqual(item.state, 'failed', item.failure)
      if (item.state === 'cached' && cached.add(item.url).size === 100) console.log('restart')
    }
    assert.equal(cached.size, 1000)
    assert((await cache.status(urls)).every((item) => item.state === 'cached'))
  },

  // 10,000 at once, while the event loop goes on.
  async manyWants() {
    let [longest, before] = [0, performance.now()]
    const ticking = setInterval(() => {
      longest = Math.max(longest, performance.now() - before)
      before = performance.now()
    })
    const urls = Array.from({ length: 10_000 }, (_, number) => `nonsense-${number}`)
    const items = await last(cache.load(urls))
    clearInterval(ticking)
    assert.equal(Object.values(items).filter((item) => item.failure?.kind === 'invalidURL').length, 10_000)
    assert(longest < 1000, `${longest}`)
    console.log(`the event loop waited for ${longest.toFixed()} ms at most`)
  },

  async theDaemonIsNeededForNothingThatIsCached() {
    const a = `${origin}/0.png`
    await cache.get(a)
    const alone = new Cache({ directory, socket: `${socket}.none`, patience: 200 })
    assert.equal(alone.peek(a).state, 'cached')
    assert.equal((await alone.get(a)).path, alone.peek(a).path)
    assert.deepEqual((await alone.status([a, missing])).map((item) => item.state), ['cached', 'missing'])
    const began = performance.now()
    const items = await last(alone.load([a, missing]))
    assert(items[a].state === 'cached' && items[missing].failure.kind === 'noDaemon')
    assert(performance.now() - began >= 190 && performance.now() - began < 2000)
    assert.equal(await kindOf(() => alone.get(missing)), 'noDaemon')
  },

  async hostileSockets() {
    const place = mkdtempSync(`${tmpdir()}/socket-`)
    let answer
    const connections = new Set()
    const server = createServer((connection) => {
      connections.add(connection)
      connection.on('error', () => {})
      if (answer === undefined) return connection.pause()
      connection.once('data', () => connection.end(answer))
    })
    await new Promise((resolve) => server.listen(`${place}/s`, resolve))
    const client = new Cache({ directory: place, socket: `${place}/s`, patience: 200 })
    // It accepts and never answers; it reads nothing either, so a long call does not fit into the pipe.
    assert.deepEqual(await kinds(client.load([missing])), ['noDaemon'])
    assert.equal(await kindOf(() => client.status([missing])), 'noDaemon')
    const many = Array.from({ length: 10_000 }, (_, number) => `${missing}?${number}`)
    assert.deepEqual(await kinds(client.load(many)), ['noDaemon'])
    for (const [bytes, kind] of [['', 'noDaemon'], ['{"parameters":{"ite', 'noDaemon'], ['\0', 'badReply'],
      ['HTTP/1.1 400\r\n\r\n\0', 'badReply'], ['['.repeat(100_000) + '\0', 'badReply'],
      [Buffer.concat([randomBytes(1 << 16), Buffer.from([0])]), 'badReply']]) {
      answer = bytes
      assert.deepEqual(await kinds(client.load([missing])), [kind])
      assert.equal(await kindOf(() => client.status([missing])), kind)
    }
    for (const connection of connections) connection.destroy()
    await new Promise((resolve) => server.close(resolve))
    rmSync(place, { recursive: true })
  },

  async foldersThatAreRefused() {
    const place = mkdtempSync(`${tmpdir()}/folder-`)
    const peek = (path, url = missing) => kindOf(async () => new Cache({ directory: path }).peek(url))
    symlinkSync(directory, `${place}/link`)
    mkdirSync(`${place}/other`)
    assert.equal(await peek(`${place}/link`), 'storage')
    assert.equal(await peek('/dev/null'), 'storage')
    if (process.geteuid() === 0) {
      chownSync(`${place}/other`, 12345, 12345)
      assert.equal(await peek(`${place}/other`), 'notPermitted')
    }
    assert.equal(await peek(directory, 'http://a.example/' + 'a'.repeat(9000)), 'invalidURL')
    assert.equal(await peek(directory, 'http://a.example/\ud800'), 'invalidURL')
    // The daemon knows better.
    const a = await new Cache({ directory: `${place}/link`, socket }).get(`${origin}/0.png`)
    assert(a.path.startsWith(directory))
    rmSync(place, { recursive: true })
  },

  async theHandlerOfElectron() {
    const handler = protocolHandler(cache)
    const response = await handler(new Request(imageAddress(`${origin}/0.png`)))
    assert.equal(response.headers.get('Content-Type'), 'image/png')
    const bytes = Buffer.from(await response.arrayBuffer())
    assert.deepEqual(bytes, readFileSync(cache.peek(`${origin}/0.png`).path))
    const status = async (address, options) => (await handler(new Request(address, options))).status
    assert.equal(await status(imageAddress(`${origin}/none.png`)), 404)
    assert.equal(await status(imageAddress('nonsense')), 400)
    assert.equal(await status('cached-image://load/'), 400)
    assert.equal(await status(imageAddress(`${origin}/0.png`), { method: 'POST' }), 405)
    const alone = protocolHandler(new Cache({ directory, socket: `${socket}.none`, patience: 50 }))
    assert.equal((await alone(new Request(imageAddress(missing)))).status, 504)
    const controller = new AbortController()
    const left = handler(new Request(imageAddress(slow(0, 1)[0]), { signal: controller.signal }))
    setTimeout(() => controller.abort(), 100)
    await assert.rejects(left, { name: 'AbortError' })
    await waitUntil(async () => (await cache.status(slow(0, 1)))[0].state === 'missing')
    // A page that reads only a part leaves no file open.
    const part = (await handler(new Request(imageAddress(`${origin}/0.png`)))).body.getReader()
    await part.read()
    await part.cancel()
  },

  // The examples of the README run.
  async theReadme() {
    const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    const examples = [...text.matchAll(/```js\n([^]*?)```/g)].map((match) => match[1])
    assert.equal(examples.length, 3)
    for (const example of examples) {
      const source = example
        .replace("'cached-client'", JSON.stringify(new URL('../index.js', import.meta.url).href))
        .replace(/https:\/\/example\.com\/(\w+)/g, (_, letter) => `${origin}/${'abc'.indexOf(letter)}`)
      const env = { ...process.env, CACHE_DIRECTORY: directory, CACHED_SOCKET: socket }
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], { env })
      assert(!stdout.includes('noDaemon'), stdout)
    }
  },

  // At most 10 µs; the fastest of some rounds, because other programs run too.
  async theSpeedOfPeek() {
    const { url } = await cache.get(`${origin}/0.png`)
    for (const each of [url, missing]) {
      let fastest = Infinity
      for (let round = 0; round < 40; round++) {
        const began = performance.now()
        for (let count = 0; count < 1000; count++) cache.peek(each)
        fastest = Math.min(fastest, performance.now() - began)
      }
      assert(fastest <= 10, `${fastest} µs`)
      console.log(`${cache.peek(each).state}: ${fastest.toFixed(1)} µs`)
    }
  },
}

const before = descriptors()
await tests[test]()
// Sockets are closed in the next turns of the event loop.
await waitUntil(() => descriptors() <= before)
