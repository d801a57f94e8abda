// CacheWire
