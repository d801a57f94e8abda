/** The image cache of this machine, for Node.js and the main process of Electron. */
export { Cache } from './lib/cache.js'
export { FakeCache } from './lib/fake.js'
export { CacheError } from './lib/item.js'
export { Load } from './lib/load.js'
export { name, variant } from './lib/places.js'
