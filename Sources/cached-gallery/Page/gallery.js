/** The live gallery of a cache: this file connects its parts. */
import { Actions } from './actions.js'
import { Adder } from './add.js'
import { Catalog } from './catalog.js'
import { $, gathered, setText } from './dom.js'
import { Drawer } from './drawer.js'
import { listen } from './events.js'
import { bindFilters, fillMenus } from './filters.js'
import { number } from './format.js'
import { Grid } from './grid.js'
import { bindKeys } from './keys.js'
import { Progress } from './progress.js'
import { post, view } from './server.js'
import { StateOfThings } from './state.js'

/** How soon a changed list is asked for again, in milliseconds: long lists cost the daemon more. */
const relistEvery = () => (catalog.total > 20_000 ? 10_000 : 1500)

const catalog = new Catalog({ onChange: showList, onError: error => actions.report(error) })
const progress = new Progress()
const state = new StateOfThings()
const actions = new Actions({ onItems: take, onListChange: listChanged })
const adder = new Adder(actions)
const drawer = new Drawer(actions, {
  onClose: () => grid.focus(),
  onShow: item => drawer.show(item),
})
const grid = new Grid(catalog, {
  onSeen: watch,
  onActive: item => drawer.isOpen && item && drawer.show(item),
  onOpen: () => drawer.show(grid.activeItem),
})

// MARK: The list

function showList() {
  grid.layOut()
  const total = number(catalog.length)
  setText($('count'), catalog.isWhole ? `${total} ${catalog.length === 1 ? 'image' : 'images'}` : `${total} …`)
  const isFiltered = Object.entries(catalog.filter).some(([name, value]) => name !== 'order' && value)
  const reason = isFiltered ? 'No image matches.' : 'The cache is empty. Paste or drop the URL of an image.'
  setText($('empty'), catalog.length === 0 && catalog.isWhole ? reason : '')
}

/** The list at the server has changed. At its top it is shown anew; else the user says when. */
const relist = gathered(() => (grid.isAtTop ? showChanges() : ($('show-changes').hidden = false)), 0)
let listedAt = 0
let relistTimer = null

function listChanged(dismissed) {
  if (dismissed) return catalog.dismiss(dismissed)
  showChanges()
}

function stale() {
  const wait = Math.max(0, listedAt + relistEvery() - performance.now())
  relistTimer ??= setTimeout(() => {
    relistTimer = null
    relist()
  }, wait)
}

async function showChanges() {
  $('show-changes').hidden = true
  listedAt = performance.now()
  await catalog.ask(grid.first)
}

bindFilters(filter => {
  catalog.filter = filter
  grid.active = 0
  grid.scrollToTop()
  showChanges()
})

// MARK: What the daemon says

/** The URLs that are watched, as one text. */
let watched = ''

/** Only what is on the screen is watched at the daemon. */
async function watch(items) {
  const urls = items.map(item => item.url).filter(Boolean)
  const text = urls.join('\n')
  if (text === watched || !grid.isConnected) return
  watched = text
  try {
    await post('visible', { view, urls })
  } catch {
    watched = ''
  }
}

/** Takes the newest state of images. */
function take(items, removed = []) {
  catalog.lead(items)
  const known = [...catalog.update(items), ...catalog.remove(removed)]
  grid.refresh(known)
  if (known.includes(drawer.key)) drawer.refresh(catalog.item(drawer.key))
}

let outageTimer = null

function showOutage(message) {
  clearTimeout(outageTimer)
  grid.isConnected = message === ''
  grid.updateLight()
  setText($('outage'), message)
  $('outage').hidden = message === ''
}

listen({
  opened() {
    clearTimeout(outageTimer)
    watched = ''
    grid.layOut()
    catalog.check()
  },
  cut() {
    clearTimeout(outageTimer)
    outageTimer = setTimeout(() => showOutage('The gallery has ended. Start it again with: cachectl gallery'), 2000)
  },
  state({ daemon, message }) {
    const wasAway = !grid.isConnected
    showOutage(daemon ? '' : message || 'The daemon does not answer. This page goes on when it does.')
    if (!daemon) progress.begin([])
    if (daemon && wasAway) {
      watched = ''
      showChanges()
    }
  },
  items({ items, removed }) {
    take(items, removed)
    progress.advance(items)
  },
  downloads({ items, removed }) {
    take(items, removed)
    progress.take(items, removed)
  },
  list: news => catalog.grew(news),
  stale,
  stats(news) {
    catalog.entries = news.stats.entries
    state.takeStats(news)
  },
  evictions: news => state.takeEvictions(news),
  verify: news => state.takeVerification(news),
})

// MARK: The rest

$('show-add').addEventListener('click', () => adder.show())
$('show-state').addEventListener('click', () => state.toggle())
$('show-changes').addEventListener('click', showChanges)
$('verify').addEventListener('click', () => actions.verifyAll())
bindKeys({ grid, drawer, adder, state, actions, showChanges })
// Before the list is there: who searches at once keeps the focus in the field.
grid.focus()

await showChanges()
catalog.check()
// For those who measure: from now on the first screen is there, but for its pictures.
performance.mark('first-screen')
fillMenus()
