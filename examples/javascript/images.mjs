// The states of images, their progress, and the paths of their files: node images.mjs URL...
import { Cache } from 'cached-client'

function show({ state, url, path, received, total, failure }) {
  if (state === 'cached') console.log(`cached ${path}`)
  else if (state === 'failed') console.log(`failed ${url}: ${failure.message}`)
  else if (state === 'missing') console.log(`missing ${url}`)
  else if (total) console.log(`in flight ${Math.floor((100 * received) / total)}% ${url}`)
  else console.log(`in flight ${url}`) // The origin has not sent the length, so a program with a ring lets it turn.
}

// The directory alone shows this, in microseconds and without a daemon.
function knownAtOnce(url) {
  try {
    return cache.peek(url)
  } catch (failure) { // Such as a URL that is too long.
    return { url, state: 'failed', failure }
  }
}

const cache = new Cache()
const images = new Map(process.argv.slice(2).map((url) => [url, knownAtOnce(url)]))
images.forEach(show)

// Leaving the loop early would end the downloads that no other program wants.
const wanted = [...images.keys()].filter((url) => images.get(url).state !== 'cached')
for await (const image of cache.load(wanted)) {
  show(image)
  images.set(image.url, image)
}
process.exitCode = [...images.values()].some(({ state }) => state === 'failed') ? 1 : 0
