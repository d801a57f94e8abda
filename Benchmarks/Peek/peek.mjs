// Times Cache.peek: peek.mjs DIRECTORY STATE SECONDS, and URLs on standard input. Like peek.c.
import { readFileSync } from 'node:fs'
import { Cache } from '../../clients/javascript/index.js'

const batch = 256
const [directory, state, seconds] = process.argv.slice(2)
const cache = new Cache({ directory })
const urls = readFileSync(0, 'utf8').trim().split('\n')
const batches = []
let [asked, begin] = [0, performance.now()]
const end = begin + 1000 * seconds
while (begin < end) {
  for (const last = asked + batch; asked < last; asked++) {
    const url = urls[asked % urls.length]
    if (cache.peek(url).state !== state) throw new Error(`peek: ${url} is not ${state}`)
  }
  const now = performance.now()
  batches.push(now - begin)
  begin = now
}
batches.sort((one, other) => one - other)
console.log((1000 * batches[batches.length >> 1]) / batch)
