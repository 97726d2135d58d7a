// The right to index into a store, held by one process at a time. It is a lock of the kernel on a file beside the store, so
// that no way of dying leaves it behind; it says nothing about short writes, which other processes may do meanwhile.
import { DatabaseSync } from 'node:sqlite'
import { AlmanacError } from '../../errors.ts'
import { isBusy } from './failures.ts'

export class Ownership {
  readonly #lock: DatabaseSync

  constructor(path: string) {
    this.#lock = new DatabaseSync(`${path}-lock`, { timeout: 0 })
    try {
      // Nothing is ever written, so that no journal needs to appear beside it.
      this.#lock.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE')
    } catch (error) {
      this.#lock.close()
      if (!isBusy(error)) throw error
      throw new AlmanacError('store_locked', `Another process is already indexing into the store file:${path}.`, {
        cause: error,
        hint: 'stop it first, start this one with --only api, or give this one another file under store.',
      })
    }
  }

  release(): void {
    if (this.#lock.isOpen) this.#lock.close()
  }
}
