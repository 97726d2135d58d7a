// The runs of a view as a reading connection knows them, read again after commits of others. Which contracts a run has
// never changes and is read once.
import type { ChainId } from '../../../model.ts'
import { hasMember } from '../../runs/members.ts'
import type { View } from '../../runs/view.ts'
import type { Connection } from '../connection.ts'
import { membersOf, type Run, runsOf } from './runs.ts'

export type KnownRun = Run & { chainId: ChainId }

export class KnownRuns {
  readonly #view: View
  #version: unknown
  #runs: KnownRun[] = []
  #members = new Map<number, Uint8Array>()

  constructor(view: View) {
    this.#view = view
  }

  /** Within the snapshot in which they are read. */
  all(read: Connection): readonly KnownRun[] {
    const [version] = read.get('PRAGMA data_version') ?? []
    if (version !== this.#version) {
      const ids = new Map(read.all('SELECT ordinal, id FROM chains') as [number, ChainId][])
      this.#runs = runsOf(read, this.#view).map(run => ({ ...run, chainId: ids.get(run.chain)! }))
      if (this.#members.size > 2 * this.#runs.length) this.#members.clear()
      this.#version = version
    }
    return this.#runs
  }

  /** `all`: for who asks for many contracts in one snapshot. */
  ofContract(read: Connection, contract: number, all = this.all(read)): KnownRun[] {
    return all.filter(({ id }) => hasMember(this.members(read, id), contract))
  }

  members(read: Connection, run: number): Uint8Array {
    let members = this.#members.get(run)
    if (members === undefined) {
      members = membersOf(read, run)
      this.#members.set(run, members)
    }
    return members
  }
}
