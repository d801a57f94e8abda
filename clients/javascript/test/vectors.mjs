// The vectors of Tests/Vectors: node vectors.mjs VECTORS. Its README describes them.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Cache, name } from '../index.js'
import { Stream } from '../lib/stream.js'

const vectors = process.argv[2]
const read = (file) => JSON.parse(readFileSync(`${vectors}/${file}.json`))
const lastOfEach = (events) => Object.fromEntries(events.map((event) => [event.url, event]))

/** An event of a vector: without members of the item that no vector has. */
function event({ failure, mediaType, width, height, sure, ...members }) {
  return failure ? { ...members, failure: failure.kind } : members
}

function state(directory, vector) {
  try {
    const { url, path, ...found } = new Cache({ directory }).peek(vector.url)
    assert.equal(path ?? `${directory}/${name(url)}`, `${directory}/${name(url)}`)
    return found
  } catch (error) {
    return { error: error.kind, sure: true }
  }
}

/** The events after each piece, and the end. */
function play(vector, pieces) {
  const stream = new Stream(vector)
  for (const url of vector.wants) stream.want(url, 'normal')
  const [events, end] = [[], {}]
  for (const piece of pieces) {
    try {
      if (!end.kind && stream.state === 'open') stream.feed(piece)
    } catch (error) {
      end.kind = error.kind
    }
    for (let item = stream.pop(); item; item = stream.pop()) events.push(event(item))
  }
  return { events, end: end.kind ? 'failed' : stream.state, ...end }
}

for (const vector of read('names')) assert.equal(name(vector.url), vector.name, vector.url)

const root = mkdtempSync(`${tmpdir()}/states-`)
const folders = spawn(`${vectors}/folders`, [root], { stdio: ['pipe', 'pipe', 'inherit'] })
const made = JSON.parse((await once(folders.stdout, 'data'))[0])
for (const number of made) {
  const vector = read('states')[number]
  assert.deepEqual(state(`${root}/${number}`, vector), vector.plain, vector.name)
}
folders.stdin.end()
await once(folders, 'exit')
rmSync(root, { recursive: true })

for (const { name, text, hex, events, end, kind, ...vector } of read('transcripts')) {
  const data = hex ? Buffer.from(hex, 'hex') : Buffer.from(text)
  const ending = kind ? { end, kind } : { end }
  assert.deepEqual(play(vector, Array.from(data, (_, i) => data.subarray(i, i + 1))), { events, ...ending }, name)
  for (let cut = 0; cut <= data.length; cut++) {
    const found = play(vector, [data.subarray(0, cut), data.subarray(cut)])
    assert.deepEqual({ ...found, events: lastOfEach(found.events) }, { ...ending, events: lastOfEach(events) },
      `${name}, cut after ${cut}`)
  }
}
console.log(`${read('names').length} names, ${made.length} states, ${read('transcripts').length} transcripts`)
