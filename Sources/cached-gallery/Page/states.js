/**
 * The states of an image and how each is drawn. `docs/lookup/states.md` explains them, and `Tests/Vectors/faces.json` holds
 * every face of the cache to the same table.
 */

/**
 * `ring` is the drawing of the ring, `sign` that of a mark. Only images with `isComing` shimmer: bytes of them arrive
 * now, or are made.
 */
export const states = {
  queued: { word: 'Queued', ring: 'hollow', meaning: 'The download waits for a slot.' },
  connecting: { word: 'Connecting', ring: 'dotted', isComing: true, meaning: 'The daemon waits for the first byte.' },
  receiving: { word: 'Receiving', ring: 'filled', isComing: true, meaning: 'The ring is filled as far as bytes are here.' },
  unmeasured: { word: 'Receiving', ring: 'turning', isComing: true, meaning: 'The server does not say how many bytes come.' },
  deriving: { word: 'Deriving', ring: 'halved', isComing: true, meaning: 'A smaller image is made of a larger one.' },
  publishing: { word: 'Saving', ring: 'open', isComing: true, meaning: 'All bytes are here. The ring closes when they are durable.' },
  retrying: { word: 'Waits for the next attempt', ring: 'counting', meaning: 'The ring empties until the next attempt.' },
  failed: { word: 'Failed', sign: '!', meaning: 'The tile says why, and what you can do.' },
  cached: { word: 'Cached', meaning: 'The picture is here, and fresh.' },
  stale: { word: 'Stale', sign: '◷', meaning: 'The origin is asked at the next use.' },
  pinned: { word: 'Pinned', sign: '◆', meaning: 'The image is never evicted.' },
  gone: { word: 'No longer cached', sign: '×', meaning: 'It was removed or evicted. The tile says why.' },
}

const seconds = () => Date.now() / 1000

/** The state of an image that is known: a key of `states`. Stale and pinned are marks on a cached one. */
export function stateOf(item, now = seconds()) {
  switch (item.phase ?? (item.state === 'inFlight' ? 'receiving' : '')) {
    case '': break
    case 'receiving': return percentOf(item) === undefined ? 'unmeasured' : 'receiving'
    // A queued download whose host is asked nothing until then waits for a time, not for a slot.
    case 'queued': return item.failure?.retryAt > now ? 'retrying' : 'queued'
    default: return item.phase in states ? item.phase : 'connecting'
  }
  if (item.state === 'cached') return 'cached'
  return item.failure && item.failure.kind !== 'removed' ? 'failed' : 'gone'
}

/** The marks on a cached image. */
export function marksOf(item, now = seconds()) {
  if (item.state !== 'cached') return []
  const marks = { stale: item.freshUntil !== undefined && item.freshUntil <= now, pinned: item.pinned, failed: item.failure }
  return Object.keys(marks).filter(mark => marks[mark])
}

/** The received share in percent; undefined while nobody knows the total. */
export function percentOf(item) {
  if (item.percent !== undefined) return item.percent
  return item.total > 0 ? (100 * (item.received ?? 0)) / item.total : undefined
}

/** The seconds until the next attempt. */
export const countdown = (item, now = seconds()) => Math.max(0, Math.ceil((item.failure?.retryAt ?? 0) - now))

/** How much of the ring is drawn, from 0 to 100. Only a published image would close it. */
export function shareOf(item) {
  if (stateOf(item) === 'publishing') return 97
  return Math.min(97, percentOf(item) ?? 0)
}

const reasons = {
  budget: 'the cache was over its budget', diskSpace: 'the disk was nearly full', pressure: 'memory was short',
  requested: 'somebody asked for it', unused: 'nobody used it', gone: 'its origin no longer has it',
  notStored: 'its origin forbids keeping it', outside: 'another program removed its file', cancelled: 'its download was cancelled',
}

/** What happened to an image that is not here, and why, in words. */
export function eventText({ kind, reason, failure }) {
  if (kind === 'failed') return `Failed: ${failure?.message ?? ''}`
  if (kind === 'damaged') return 'Removed: its file was damaged'
  if (kind === 'removed' && (reason === 'requested' || !reason)) return 'Removed'
  return `${kind === 'evicted' ? 'Evicted' : 'Removed'}: ${reasons[reason] ?? reason}`
}

/** What a tile without a picture says. */
export function reasonOf(item) {
  if (item.failure) return item.failure.message
  if (item.isCancelled) return 'The download was cancelled'
  return item.event ? eventText(item.event) : states.gone.word
}

// MARK: One state after another

/** An item after news about it. Changes have no details: the ones that are known stay. */
export function merged(before, item) {
  if (item.state === 'missing') return lost(before, item.failure)
  const { pinned, fetchedAt, freshUntil } = before
  return { ...(item.state === 'cached' && { pinned, fetchedAt, freshUntil }), ...item, url: item.url || before.url }
}

/** An item without a file. */
export function lost(before, news) {
  const { url, key, state, failure, event, lostAt = seconds(), width, height } = before
  const isCancelled = before.isCancelled || (state === 'inFlight' && !news && !failure)
  return { url, key, state: 'missing', failure: news ?? failure, event, lostAt, isCancelled, width, height }
}
