// Whether the file is still the one that was opened, can be written to, and is whole. It reads no rows but the verdict
// of the last check.
import { type Stats, statSync } from 'node:fs'
import { AlmanacError } from '../../errors.ts'
import { checkName, isSound, parseCheck } from '../check.ts'
import type { StoreProblem } from '../store.ts'
import type { Connection } from './connection.ts'

type FileProblem = Exclude<StoreProblem['problem'], 'worker_dead'>

const reasons: Readonly<Record<FileProblem, string>> = {
  store_full: 'The disk of the store is full: nothing new is stored.',
  store_missing: 'The file of the store was deleted: what is written now is lost when this process ends.',
  store_replaced: 'The file of the store was replaced while it was in use: this process still has the old one.',
  store_damaged: 'The file of the store is damaged: answers may lack rows.',
}

export class FileCondition {
  readonly #path: string
  readonly #opened: Pick<Stats, 'dev' | 'ino'> | undefined
  /** The queues of writes whose last write found no room. */
  readonly #full = new Set<string>()
  #damaged = false

  /** To be made right after the file was opened. */
  constructor(path: string) {
    this.#path = path
    this.#opened = identityOf(path)
  }

  /** Tell it the outcome of each write of a queue. */
  wrote(queue: string, failure: unknown): void {
    if (failure instanceof AlmanacError && failure.code === 'store_full') this.#full.add(queue)
    else if (failure === undefined) this.#full.delete(queue)
    this.failed(failure)
  }

  /** Tell it of failures of reads. What was damaged once stays so until the file is replaced. */
  failed(failure: unknown): void {
    if (failure instanceof AlmanacError && failure.code === 'store_corrupt') this.#damaged = true
  }

  problems(read: Connection): StoreProblem[] {
    const found: FileProblem[] = []
    const now = identityOf(this.#path)
    if (now === undefined) found.push('store_missing')
    else if (now.dev !== this.#opened?.dev || now.ino !== this.#opened.ino) found.push('store_replaced')
    if (this.#damaged || !this.#lastCheckIsSound(read)) found.push('store_damaged')
    if (this.#full.size > 0) found.push('store_full')
    return found.map(problem => ({ problem, reason: reasons[problem] }))
  }

  #lastCheckIsSound(read: Connection): boolean {
    const [text] = read.get('SELECT value FROM checkpoints WHERE name = ?', checkName) ?? []
    const check = parseCheck(text as string | undefined)
    return check === undefined || isSound(check)
  }
}

function identityOf(path: string): Pick<Stats, 'dev' | 'ino'> | undefined {
  return statSync(path, { throwIfNoEntry: false })
}
