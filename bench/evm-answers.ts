// The ready-made answers of a node for a made-up chain: made once for each shape, kept in a file, read by place. Making them
// takes minutes for two thousand blocks of Ethereum, and nothing must be made while something is measured.
import { createHash } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AnswerBlock, type AnswerKind, answerKinds, makeAnswers } from './evm-chain.ts'
import { type ShapeName, shapes } from './shape.ts'

/** Of each block: its hash, where the answers of each kind end, and what an index must hold up to it. */
type Entry = { hash: string; ends: number[]; transfers: number; wallets: number }

/** Opens the answers of a shape's chain up to a head, and makes them where there are none yet. */
export function openAnswers(name: ShapeName, chainId: number, head: number): EvmAnswers {
  const folder = fileURLToPath(new URL('data', import.meta.url))
  mkdirSync(folder, { recursive: true })
  const stem = `evm-${name}-${chainId}-`
  const path = join(folder, `${stem}${digestOfMakers()}`)
  let entries = readIndex(path)
  if (entries.length <= head) {
    // What another state of the code made is of no use, and large.
    for (const file of readdirSync(folder)) if (file.startsWith(stem)) rmSync(join(folder, file))
    writeAnswers(path, makeAnswers(shapes[name], chainId, head), head)
    entries = readIndex(path)
  }
  return new EvmAnswers(`${path}.answers`, entries.slice(0, head + 1))
}

/** The kept answers belong to the code that made them. */
export function digestOfMakers(): string {
  const makers = ['evm-chain', 'evm-world', 'evm-wallets', 'made-contracts', 'random', 'shape']
  const simulated = ['block', 'encode', 'events', 'json', 'keys', 'options', 'random', 'rlp'].map(
    file => `../test/sim/${file}`,
  )
  const digest = createHash('sha256')
  for (const file of [...makers, ...simulated]) digest.update(readFileSync(new URL(`${file}.ts`, import.meta.url)))
  return digest.digest('hex').slice(0, 12)
}

function readIndex(path: string): Entry[] {
  try {
    return JSON.parse(readFileSync(`${path}.json`, 'utf8')) as Entry[]
  } catch {
    return []
  }
}

function writeAnswers(path: string, blocks: Iterable<AnswerBlock>, head: number): void {
  const file = openSync(`${path}.part`, 'w')
  const entries: Entry[] = []
  let end = 0
  for (const { texts, ...facts } of blocks) {
    const ends = answerKinds.map(kind => (end += writeSync(file, Buffer.from(texts[kind], 'latin1'))))
    entries.push({ ...facts, ends })
    if (entries.length % 200 === 0) console.error(`made ${entries.length} of ${head + 1} blocks`)
  }
  closeSync(file)
  renameSync(`${path}.part`, `${path}.answers`)
  writeFileSync(`${path}.json`, JSON.stringify(entries))
}

class EvmAnswers {
  readonly #file: number
  readonly #entries: readonly Entry[]
  readonly #numbers: Map<string, number>
  readonly #blocks: Buffer[] = []

  constructor(path: string, entries: readonly Entry[]) {
    this.#file = openSync(path, 'r')
    this.#entries = entries
    this.#numbers = new Map(entries.map(({ hash }, number) => [hash, number]))
  }

  get head(): number {
    return this.#entries.length - 1
  }

  /** What an index of everything up to a block must hold. */
  expectedAt(number: number): { transfers: number; wallets: number } {
    const { transfers, wallets } = this.#entries[number]!
    return { transfers, wallets }
  }

  numberOf(hash: string): number | undefined {
    return this.#numbers.get(hash)
  }

  /** What was read stays in memory: reading it again would be work for the node while something is measured. */
  read(number: number, kind: AnswerKind): Buffer {
    const { ends } = this.#entries[number]!
    const start = this.#entries[number - 1]?.ends.at(-1) ?? 0
    let block = this.#blocks[number]
    if (block === undefined) {
      block = Buffer.allocUnsafeSlow(ends.at(-1)! - start)
      readSync(this.#file, block, 0, block.length, start)
      this.#blocks[number] = block
    }
    const at = answerKinds.indexOf(kind)
    return block.subarray(at === 0 ? 0 : ends[at - 1]! - start, ends[at]! - start)
  }

  close(): void {
    closeSync(this.#file)
  }
}
