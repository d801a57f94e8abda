/** Keeps the address and the page the same: what is open is in the address, and what the address says is shown. */
import { hasStep, read, write } from './address.js'
import { showFilter } from './filters.js'
import { get } from './server.js'

/**
 * `activate` moves the keyboard to a place in the list, `applyFilter` shows another list. Gives what is called when the viewer
 * has another image, or none; and what shows the image that the address of a new page names.
 */
export function bindRoute({ catalog, viewer, actions, activate, applyFilter }) {
  const follow = async () => {
    const { filter, image } = read()
    if (JSON.stringify(filter) !== JSON.stringify(catalog.filter)) {
      showFilter(filter)
      applyFilter(filter)
    }
    if (image === (viewer.item?.key ?? '')) return
    if (image === '') return void viewer.close()
    try {
      const item = catalog.item(image) ?? (await get('info', { key: image })).item
      if (item.state === 'cached') viewer.show(item, catalog.indexOf(image))
      else actions.say('The image is not cached any more.')
    } catch (error) {
      actions.report(error)
    }
  }
  addEventListener('popstate', follow)
  return {
    begin: () => read().image && follow(),
    show(item) {
      const { image } = read()
      const { filter } = catalog
      if (item) write({ filter, image: item.key }, image === '')
      else if (image !== '' && hasStep()) history.back()
      else write({ filter })
      const index = item ? catalog.indexOf(item.key) : -1
      if (index >= 0) activate(index)
    },
  }
}
