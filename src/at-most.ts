// How a cache is bounded by its entries. It keeps nothing itself.

/** lru-cache's `max` takes the room of all entries at once: 150 µs and 30 kB for each thousand, before any is there. */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 }
}
