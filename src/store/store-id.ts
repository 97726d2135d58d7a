// Names a store: every process that has it open knows the same name, and nothing else can be learned from it.
import { createHash } from 'node:crypto'
import type { Store } from './store.ts'

/** A copy keeps the name. */
export function storeIdOf({ secret }: Pick<Store, 'secret'>): string {
  return createHash('sha256').update('store id').update(secret).digest('hex').slice(0, 16)
}
