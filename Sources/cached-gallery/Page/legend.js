/** The signs of the states, drawn by the same code as those of the images. */
import { $, element } from './dom.js'
import { Ring } from './ring.js'
import { states } from './states.js'

const downloads = {
  queued: {}, connecting: {}, receiving: { percent: 40 }, unmeasured: { phase: 'receiving' }, deriving: {},
  publishing: { percent: 100 }, retrying: { failure: { message: '' } },
}

/** Draws the list of states. */
export function fillLegend() {
  $('legend').replaceChildren(...Object.entries(states).flatMap(([state, { word, meaning, sign = '' }]) => [
    element('dt', { className: 'sign', ariaHidden: 'true' }, downloads[state] ? ring(state) : sign),
    element('dd', {}, element('b', { textContent: state === 'unmeasured' ? 'Length unknown' : word }), ` ${meaning}`),
  ]))
}

function ring(state) {
  const drawing = $('cell').content.querySelector('.ring').cloneNode(true)
  const item = { key: state, url: '', state: 'inFlight', phase: state, ...downloads[state] }
  if (item.failure) item.failure.retryAt = Date.now() / 1000 + 9
  new Ring(drawing).show(item)
  drawing.removeAttribute('role')
  return drawing
}
