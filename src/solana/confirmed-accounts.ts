// Which subscriptions the node has confirmed, and the slot as of which each account under them is known. It decides nothing.
import { accountKey, addressOfKey } from './subjects.ts'
import type { Subject, Subscriptions } from './subscriptions.ts'

export class ConfirmedAccounts {
  readonly #socket: Subscriptions
  readonly #confirmed = new Set<string>()
  readonly #knownSlots = new Map<string, number>()

  constructor(socket: Subscriptions) {
    this.#socket = socket
  }

  has(address: string): boolean {
    return this.#confirmed.has(accountKey(address))
  }

  async subscribe(subject: Subject): Promise<void> {
    if (this.#confirmed.has(subject.key)) return
    await this.#socket.add(subject)
    this.#confirmed.add(subject.key)
  }

  unsubscribe(key: string): void {
    this.#confirmed.delete(key)
    const address = addressOfKey(key)
    if (address !== undefined) this.#knownSlots.delete(address)
    this.#socket.remove(key)
  }

  knownSlot(address: string): number {
    return this.#knownSlots.get(address) ?? 0
  }

  know(address: string, slot: number): void {
    this.#knownSlots.set(address, slot)
  }

  /** The socket is another one: nothing is subscribed to. */
  clear(): void {
    this.#confirmed.clear()
    this.#knownSlots.clear()
  }
}
