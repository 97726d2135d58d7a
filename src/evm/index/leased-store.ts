// A store whose writes hold only as long as a lease does: whoever was paused and wakes up cannot write over a successor.
import type { FencedWriter, Lease, Store } from '../../store/store.ts'

const fencedMethods: ReadonlySet<PropertyKey> = new Set<keyof FencedWriter>([
  'commitCold',
  'commitHot',
  'addToHot',
  'finalize',
  'putHead',
  'addCoverage',
  'dropRange',
  'watchContract',
  'putCheckpoint',
])

/** Reads as the store does, writes under the lease. */
export function leasedStore(store: Store, lease: Lease): Store {
  const fenced = store.fenced(lease)
  return new Proxy(store, {
    get(_, name) {
      const owner = fencedMethods.has(name) ? fenced : store
      const member: unknown = Reflect.get(owner, name, owner)
      return typeof member === 'function' ? member.bind(owner) : member
    },
  })
}
