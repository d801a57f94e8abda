/** The live gallery of a cache: this file connects its parts. */
import { Actions } from './actions.js'
import { Adder } from './add.js'
import { rememberPlace, rememberedPlace, write } from './address.js'
import { Catalog } from './catalog.js'
import { $, gathered, on, setText } from './dom.js'
import { Drawer } from './drawer.js'
import { listen } from './events.js'
import { bindFilters, showFilter } from './filters.js'
import { number } from './format.js'
import { Grid } from './grid.js'
import { bindKeys } from './keys.js'
import { bindLasso } from './lasso.js'
import { bindPointer } from './pointer.js'
import { bindRoute } from './route.js'
import { Selection } from './selection.js'
import { post, view } from './server.js'
import { Shelf } from './shelf.js'
import { StateOfThings } from './state.js'
import { Thumbnails } from './thumbnails.js'
import { Transfers } from './transfers.js'
import { Viewer } from './viewer.js'

/** How soon a changed list is asked for again, in milliseconds: long lists cost the daemon more. */
const relistEvery = () => (catalog.total > 20_000 ? 10_000 : 1500)

/** The URLs that are watched, as one text. */
let watched = ''

/** Only what is on the screen is watched at the daemon, and not what passes by. */
const watch = gathered(async () => {
  if (grid.scroll.direction !== 0) return
  const items = [...grid.seenItems(), ...shelf.seenItems()]
  const urls = [...new Set(items.map(item => item.url).filter(Boolean))]
  const text = urls.join('\n')
  if (text === watched || !grid.isConnected) return
  watched = text
  try {
    await post('visible', { view, urls })
  } catch {
    watched = ''
  }
}, 200)

const catalog = new Catalog({ onChange: showList, onError: error => actions.report(error) })
const transfers = new Transfers()
const thumbnails = new Thumbnails()
const state = new StateOfThings()
const actions = new Actions({ items: takeReply, removed: showChanges, leaving: () => grid.dress() })
const adder = new Adder(actions, () => shelf.toggle(true))
const drawer = new Drawer(actions, {
  close: () => grid.focus(),
  view: item => viewer.show(item, catalog.indexOf(item.key)),
})
const viewer = new Viewer(catalog, {
  change: item => route.show(item),
  act: (key, item) => act(key, item),
  from: item => grid.cell(item.key)?.element.getBoundingClientRect(),
  replaced: item => grid.refresh(catalog.update([item])),
})
const route = bindRoute({ catalog, viewer, actions, activate: index => grid.activate(index), applyFilter })
/** What the bar and the keys do with many images. */
const many = {
  p: items => actions.pinAll(items), r: items => actions.retry(items), c: items => actions.copyAll(items),
  Delete: items => actions.remove(items),
}
const buttons = { Pin: many.p, Refresh: many.r, 'Copy URLs': many.c, Save: items => actions.saveAll(items), Remove: many.Delete }
const selection = new Selection(catalog, buttons, () => grid.dress())
const shelf = new Shelf(transfers, thumbnails, {
  seen: () => watch(),
  show: item => drawer.show(item),
  retry: items => actions.retry(items),
  dismiss(items) {
    for (const { key } of items) transfers.failed.delete(key)
    shelf.draw()
  },
})
const grid = new Grid(catalog, thumbnails, rememberedPlace(), {
  seen: () => watch(),
  active: item => drawer.isOpen && item && drawer.show(item),
  dress(cell) {
    const isSelected = selection.has(cell.item?.key)
    cell.element.classList.toggle('selected', isSelected)
    cell.element.ariaSelected = isSelected
    cell.element.classList.toggle('leaving', actions.isLeaving(cell.item?.key))
  },
  origin: key => shelf.origin(key),
})

// MARK: The list

function showList() {
  grid.layOut()
  viewer.refresh()
  transfers.settle(key => catalog.indexOf(key) >= 0)
  shelf.draw()
  const total = number(catalog.length)
  setText($('count'), catalog.isWhole ? `${total} ${catalog.length === 1 ? 'image' : 'images'}` : '…')
  const reason = catalog.isFiltered ? 'No image matches.' : 'The cache is empty. Paste or drop the URL of an image.'
  setText($('empty'), catalog.length === 0 && catalog.isWhole ? reason : '')
  state.takeList(catalog)
}

/** The list at the server has changed. At its top it is shown anew; else the user says when. */
const relist = gathered(() => (grid.isAtTop ? showChanges() : ($('show-changes').hidden = false)), 0)
let listedAt = 0
let relistTimer = null

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

function applyFilter(filter) {
  catalog.filter = filter
  grid.begin()
  showChanges()
}

bindFilters((filter, isStep) => {
  write({ filter }, isStep)
  applyFilter(filter)
}, size => (grid.size = size))

// An event after scrolling would come too late for a page that is loaded again at once.
addEventListener('pagehide', () => rememberPlace(grid.place))

// MARK: What the daemon says

function takeReply(items, isAsked) {
  if (isAsked) transfers.ask(items)
  take(items)
}

/** Takes the newest state of images. `isNews` tells whether the downloads of images that are not known count. */
function take(items, removed = [], isNews = true) {
  transfers.take(items, removed, isNews)
  const known = [...catalog.update(items), ...catalog.remove(removed)]
  grid.refresh(known)
  shelf.draw()
  const changed = [...items.map(item => item.key), ...removed]
  const shown = items.find(item => item.key === viewer.item?.key)
  if (shown) viewer.update(shown)
  if (changed.includes(drawer.key)) drawer.refresh(catalog.item(drawer.key) ?? transfers.item(drawer.key))
  if (transfers.finished.size > 0) setTimeout(settle, 3100)
}

function settle() {
  transfers.settle(() => false)
  shelf.draw()
}

let outageTimer = null
/** Whether there was no daemon. A slow one still has the list, and asking anew would make it slower. */
let wasAway = false

function showOutage(message, isConnected = message === '') {
  clearTimeout(outageTimer)
  grid.isConnected = shelf.isConnected = isConnected
  grid.updateLight()
  shelf.updateLight()
  setText($('outage'), message)
  $('outage').hidden = message === ''
}

listen({
  open() {
    clearTimeout(outageTimer)
    watched = ''
    grid.layOut()
  },
  error() {
    clearTimeout(outageTimer)
    outageTimer = setTimeout(() => {
      wasAway = true
      showOutage('The gallery has ended. Start it again with: cachectl gallery')
    }, 2000)
  },
  state({ daemon, message = '' }) {
    showOutage(daemon ? message : message || 'The daemon does not answer. This page goes on when it does.')
    if (!daemon) {
      transfers.end()
      shelf.draw()
    }
    if (daemon && wasAway) {
      watched = ''
      showChanges()
    }
    wasAway = !daemon
  },
  items: ({ items, removed }) => take(items, removed, false),
  downloads: ({ items, removed }) => take(items, removed),
  list: news => catalog.grew(news),
  stale,
  stats(news) {
    catalog.entries = news.stats.entries
    state.takeStats(news)
    shelf.takeStats(news)
  },
  failures: ({ items }) => take(items),
  history(news) {
    state.takeHistory(news)
    grid.refresh(catalog.happened(news.events.filter(event => event.kind !== 'failed')))
  },
  verify: news => state.takeVerification(news),
})

// MARK: The rest

bindPointer($('scroller'), { grid, drawer, viewer, selection })
bindLasso(grid, selection)
on('show-add', () => adder.show())
on('show-state', () => state.toggle())
on('show-changes', showChanges)
on('verify', () => actions.verifyAll())
const act = bindKeys({ grid, drawer, viewer, adder, state, shelf, selection, actions, many, showChanges })
// Before the list is there: who searches at once keeps the focus in the field.
grid.focus()

showFilter(catalog.filter)
await showChanges()
route.begin()
// For those who measure: from now on the first screen is there, but for its pictures.
performance.mark('first-screen')
