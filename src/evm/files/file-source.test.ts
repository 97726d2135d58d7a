import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fullReceipts, madeChain } from '../../../test/history-blocks.ts'
import { flipped, recordStarts } from '../../../test/history-flips.ts'
import { accumulatorOf } from '../../../test/history-proofs.ts'
import { type WrittenBlock, writeEra1, writeEre } from '../../../test/history-writer.ts'
import { mainnetBeaconRoots, mainnetBlocks } from '../../../test/recordings.ts'
import { type Chain, defineChain } from '../../chains.ts'
import { createLog } from '../../log.ts'
import type { Hash, Interval } from '../../model.ts'
import { checkFile } from '../../tools/history/check-file.ts'
import { type BulkSource, SourceLost } from '../source/bulk-source.ts'
import { DecodePool, inlineDecoder } from '../source/decode-pool.ts'
import { readHeader } from './file-block.ts'
import { type FileSourceOptions, fileSource } from './file-source.ts'
import { epochRoot } from './merkle.ts'
import { type Network, networks } from './networks.ts'

const signal = new AbortController().signal
const local = defineChain({ name: 'local', id: 1_337 })
const eth = networks[0]!.chain
const transfers = { scope: 'transfers' } as const

function folder(files: Readonly<Record<string, Uint8Array>> = {}): string {
  const path = mkdtempSync(join(tmpdir(), 'almanac-files-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(path, name), bytes)
  return path
}

type Lines = Record<string, unknown>[]

async function looked(
  paths: string | string[],
  options: Partial<FileSourceOptions> & { chain?: Chain } = {},
): Promise<BulkSource & { lines: Lines }> {
  const lines: Lines = []
  const log = createLog({ level: 'info', format: 'json', write: line => lines.push(JSON.parse(line)) })
  const given = { chain: local, decoder: inlineDecoder, log, paths: [paths].flat(), ...options }
  const source = fileSource(given)
  onTestFinished(() => source.close())
  await source.look(signal)
  return Object.assign(source, { lines })
}

/** All blocks that it holds, newest first, as the index asks for them. */
async function readAll(source: BulkSource): Promise<(Interval & { anchor?: string })[]> {
  const parts: (Interval & { anchor?: string })[] = []
  for (const held of source.holds.toReversed())
    for (let to = held.to; to >= held.from; ) {
      const { interval, anchor, headers } = await source.range(
        { from: Math.max(held.from, to - source.blocksAt(to) + 1), to },
        transfers,
        signal,
      )
      expect(headers.map(({ number }) => number)).toEqual(numbersIn(interval))
      parts.push({ ...interval, ...(anchor === undefined ? {} : { anchor }) })
      to = interval.from - 1
    }
  return parts
}

const numbersIn = ({ from, to }: Interval): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at)
const hexOf = (bytes: Uint8Array): Hash => `0x${Buffer.from(bytes).toString('hex')}` as Hash

test('partial files in any order, with gaps, of two formats: each block of one file', async () => {
  const chain = madeChain(0, 30)
  const path = folder({
    'local-00002-c.erae': writeEre(20, chain.slice(20)),
    'local-00000-a.ere': writeEre(0, chain.slice(0, 8)),
    'local-00001-b.ere': writeEre(8, chain.slice(8, 14)),
    'local-00001-c.era1': writeEra1(8, chain.slice(8, 14), accumulatorOf(chain.slice(8, 14))),
    // The first six of these are in others.
    'local-00009-d.ere': writeEre(8, chain.slice(8, 17)),
    'notes.txt': Buffer.from('not a file of history'),
  })
  const source = await looked(path)
  expect(source.holds).toEqual([
    { from: 0, to: 16 },
    { from: 20, to: 29 },
  ])
  expect(source.status()).toEqual({
    ...{ kind: 'files', name: path, blocks: 27, from: 0, to: 29, state: 'ready', refused: [] },
  })
  expect(source.lines).toMatchObject([{ file: 'local-00001-c.era1', msg: expect.stringContaining('passed over') }])
  // Blocks asked for at once never cross the end of a file.
  expect([7, 13, 16, 29].map(number => source.blocksAt(number))).toEqual([8, 6, 3, 10])
  // With senders fewer, until it is seen how long they take.
  expect(source.blocksAt(29, 'full')).toBe(8)
  await source.range({ from: 22, to: 29 }, { scope: 'full' }, signal)
  expect(source.blocksAt(29, 'full')).toBe(10)
  expect(await readAll(source)).toEqual([
    { from: 20, to: 29 },
    { from: 14, to: 16 },
    { from: 8, to: 13 },
    { from: 0, to: 7 },
  ])
  expect(await source.range({ from: 5, to: 10 }, transfers, signal)).toMatchObject({ interval: { from: 8, to: 10 } })
  expect(await source.header(12, signal)).toEqual({
    ...{ number: 12, hash: hexOf(chain[12]!.hash), parentHash: hexOf(chain[11]!.hash), timestamp: 1_600_000_012 },
  })
  expect(await source.header(18, signal)).toBeUndefined()
  await expect(source.range({ from: 17, to: 18 }, transfers, signal)).rejects.toThrow(SourceLost)
  await source.look(signal)
  expect(source.lines).toHaveLength(1)
})

test('single files are read like folders, and a path that is missing is told', async () => {
  const chain = madeChain(0, 4)
  const path = folder({ 'local-0-a.ere': writeEre(0, chain) })
  const source = await looked([join(path, 'local-0-a.ere'), join(path, 'missing')])
  expect(source.status()).toMatchObject({ state: 'ready', blocks: 4, reason: expect.stringContaining('ENOENT') })
  expect((await looked(join(path, 'missing'))).status()).toMatchObject({ state: 'failed', blocks: 0 })
  expect((await looked(folder())).status()).toEqual({
    ...{ kind: 'files', name: expect.any(String), blocks: 0, state: 'empty', refused: [] },
  })
})

test('files whose times go back or have not come are refused by name, with the block', async () => {
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const back = madeChain(0, 8, 1, number => (number === 5 ? 1_500_000_000 : 1_600_000_000 + number))
  const ahead = madeChain(8, 8, 1, number => (number < 14 ? 1_600_000_000 : nowSeconds + 2 * 86_400))
  // Chains whose blocks have the same time are there, and clocks differ.
  const odd = madeChain(16, 8, 1, number => (number < 20 ? 1_600_000_000 : nowSeconds + 3_600))
  const source = await looked(
    folder({
      ...{
        'local-0-a.ere': writeEre(0, back),
        'local-1-b.ere': writeEre(8, ahead),
        'local-2-c.ere': writeEre(16, odd),
      },
    }),
  )
  for (const { from, to } of [...source.holds]) await source.range({ from, to }, transfers, signal).catch(() => {})
  for (const to of [15, 7]) await source.range({ from: to - 7, to }, transfers, signal).catch(() => {})
  expect(source.holds).toEqual([{ from: 16, to: 23 }])
  expect(source.status().refused).toEqual([
    {
      name: 'local-0-a.ere',
      block: 5,
      reason: 'has the time 1500000000, and the block before it the later 1600000004',
    },
    { name: 'local-1-b.ere', block: 15, reason: expect.stringMatching(/^has the time \d+, which has not come/) },
  ])
})

test('files of another network, without receipts and of another kind are refused by name', async () => {
  const [block] = mainnetBlocks()
  const number = readHeader(block!.header).number
  const { header, body } = block!
  const whole = writeEre(number, [block!])
  const files = {
    'mainnet-01802-0-noreceipts.ere': writeEre(number, [{ header, body }]),
    'mainnet-01803-00000000.ere': Buffer.alloc(40),
    'other-00000-00000000.ere': whole,
    'sepolia-00000-00000000.ere': whole,
  }
  const source = await looked(folder(files), { chain: eth })
  expect(source.holds).toEqual([])
  expect(source.status()).toMatchObject({ state: 'failed', reason: 'none of its 4 files can be used' })
  expect(source.status().refused).toEqual([
    { name: 'mainnet-01802-0-noreceipts.ere', reason: expect.stringMatching(/^has no receipts: .* Get a file/) },
    { name: 'mainnet-01803-00000000.ere', reason: expect.stringContaining('is not an e2store file') },
    { name: 'other-00000-00000000.ere', reason: 'is of the network other by its name, and the chain is eth' },
    { name: 'sepolia-00000-00000000.ere', reason: 'is of the network sepolia by its name, and the chain is eth' },
  ])
  expect(source.lines).toHaveLength(4)
  // Links and signatures tell where a name does not.
  const misnamed = await looked(folder({ 'some.ere': whole }), { chain: networks[1]!.chain })
  await expect(misnamed.range({ from: number, to: number }, transfers, signal)).rejects.toThrow(
    'signed for the chain 1',
  )
  expect(misnamed.status().refused).toEqual([{ name: 'some.ere', block: number, reason: expect.any(String) }])
  const genesis = await looked(folder({ 'mainnet-00000-0.ere': writeEre(0, madeChain(0, 2)) }), { chain: eth })
  await expect(genesis.range({ from: 0, to: 1 }, transfers, signal)).rejects.toThrow('mainnet begins with 0xd4e56740')
})

test('a file that is cut at a record is refused, and others go on', async () => {
  const chain = madeChain(0, 6)
  const file = writeEre(2, chain.slice(2, 4))
  for (const length of recordStarts(file).slice(0, -1)) {
    const path = folder({ 'local-0-a.ere': writeEre(0, chain.slice(0, 2)), 'local-1-b.ere': file.subarray(0, length) })
    const source = await looked(path)
    expect(source.holds, `cut at ${length}`).toEqual([{ from: 0, to: 1 }])
    expect(source.status().refused).toEqual([{ name: 'local-1-b.ere', reason: expect.stringMatching(/cut|e2store/) }])
  }
})

test('altered bytes change nothing, or the file is refused with the block, and leaves what it holds', async () => {
  const block = mainnetBlocks()[1]!
  const number = readHeader(block.header).number
  const chain = madeChain(number - 2, 2)
  const interval = { from: number, to: number }
  const bytes = writeEre(number, [{ ...block, proof: undefined }])
  const whole = await (await looked(folder({ 'a.ere': bytes }), { chain: eth })).range(interval, transfers, signal)
  let [same, refused] = [0, 0]
  const lower = writeEre(number - 2, chain)
  const path = folder({ 'lower.ere': lower })
  for (let at = 0; at < bytes.length; at += 7) {
    writeFileSync(join(path, 'a.ere'), flipped(bytes, 8 * at + (at % 8)))
    const source = await looked(path, { chain: eth })
    try {
      expect({ at, ...(await source.range(interval, transfers, signal)) }).toEqual({ at, ...whole })
      same++
    } catch (error) {
      expect(error, `byte ${at}: ${String(error)}`).toBeInstanceOf(SourceLost)
      expect(source.holds).toEqual([{ from: number - 2, to: number - 1 }])
      const [told] = source.status().refused
      expect(told).toMatchObject({ name: 'a.ere', reason: expect.any(String) })
      // Index and first header are wrong before a block is asked for.
      expect((error as Error).message).toMatch(new RegExp(`No history file|a.ere: block ${number}`))
      refused++
    }
    await source.close()
  }
  expect(refused).toBeGreaterThan(100)
  expect(same).toBeLessThan(refused / 20)
})

test('blocks out of order, unlinked, and not those that the chain above names are refused', async () => {
  const chain = madeChain(3, 4)
  const trial = async (blocks: readonly WrittenBlock[], lastHash?: Hash) => {
    const source = await looked(folder({ 'local-0-a.ere': writeEre(3, blocks) }))
    await expect(source.range({ from: 3, to: 6 }, { ...transfers, lastHash }, signal)).rejects.toThrow(SourceLost)
    expect(source.holds).toEqual([])
    return source.status().refused[0]
  }
  const [a, b, c, d] = [chain[0]!, chain[1]!, chain[2]!, chain[3]!]
  expect(await trial([a, c, b, d])).toMatchObject({ block: 5, reason: 'is block 4 by its header' })
  const others = madeChain(5, 2)
  expect(await trial([a, b, ...others])).toMatchObject({ block: 5, reason: expect.stringContaining('as its parent') })
  const above = `0x${'12'.repeat(32)}` as Hash
  expect(await trial(chain, above)).toMatchObject({ block: 6, reason: expect.stringContaining(`names ${above}`) })
})

test('a file that is replaced is read again at the next look, and a bad one returns when it is mended', async () => {
  const chain = madeChain(0, 8)
  const path = folder({ 'local-0-a.ere': writeEre(0, chain.slice(0, 4)) })
  const file = join(path, 'local-0-a.ere')
  const source = await looked(path)
  expect(await readAll(source)).toEqual([{ from: 0, to: 3 }])
  // Written in its place, and moved to its place.
  writeFileSync(file, writeEre(0, chain.slice(0, 6)))
  await expect(source.range({ from: 0, to: 3 }, transfers, signal)).rejects.toThrow('has changed since')
  expect(source.holds).toEqual([])
  expect(source.status()).toMatchObject({ refused: [], state: 'empty' })
  await source.look(signal)
  expect(await readAll(source)).toEqual([{ from: 0, to: 5 }])
  writeFileSync(join(path, 'new'), writeEre(0, chain))
  renameSync(join(path, 'new'), file)
  expect(await source.header(5, signal)).toBeUndefined()
  await source.look(signal)
  expect(await source.header(7, signal)).toMatchObject({ number: 7 })
  const good = writeEre(0, chain)
  const bad = Buffer.from(good)
  // In the header of a block in the middle.
  bad[recordStarts(good)[4]! + 60]! ^= 1
  writeFileSync(file, bad)
  await source.look(signal)
  await expect(source.range({ from: 0, to: 7 }, transfers, signal)).rejects.toThrow(SourceLost)
  await source.look(signal)
  expect(source.status().refused).toEqual([{ name: 'local-0-a.ere', block: 3, reason: expect.any(String) }])
  // Blocks above the bad one can be had from another file.
  writeFileSync(join(path, 'local-1-b.ere'), writeEre(4, chain.slice(4)))
  await source.look(signal)
  expect(source.holds).toEqual([{ from: 4, to: 7 }])
  writeFileSync(file, good)
  utimesSync(file, 1_700_000_000, 1_700_000_000)
  await source.look(signal)
  expect(source.status()).toMatchObject({ refused: [], blocks: 8, state: 'ready' })
  expect(await readAll(source)).toEqual([{ from: 0, to: 7 }])
  rmSync(file)
  await expect(source.range({ from: 0, to: 3 }, transfers, signal)).rejects.toThrow('cannot be read (ENOENT')
  await source.look(signal)
  expect(source.status()).toMatchObject({ refused: [], blocks: 4 })
})

test('a header that is wrong leaves the file out', async () => {
  const good = writeEre(0, madeChain(0, 8))
  const bad = flipped(good, 8 * (recordStarts(good)[4]! + 60))
  const source = await looked(folder({ 'local-0-a.ere': bad }))
  expect(await source.header(3, signal)).toBeUndefined()
  expect(source.status().refused).toMatchObject([{ name: 'local-0-a.ere', block: 3 }])
})

test('a block that the operator names is an anchor, and ends a part', async () => {
  const chain = madeChain(0, 20)
  const files = { 'local-0-a.ere': writeEre(0, chain.slice(0, 10)), 'local-1-b.ere': writeEre(10, chain.slice(10)) }
  const anchor = hexOf(chain[14]!.hash)
  const source = await looked(folder(files), { anchor })
  expect(await source.anchorIn({ from: 0, to: 13 }, signal)).toBeUndefined()
  expect(await source.anchorIn({ from: 3, to: 19 }, signal)).toEqual({
    ...{ number: 14, hash: anchor, evidence: 'receipts-root' },
  })
  expect(await source.anchorIn({ from: 15, to: 19 }, signal)).toBeUndefined()
  expect(await readAll(source)).toEqual([
    { from: 15, to: 19 },
    { from: 10, to: 14, anchor: 'receipts-root' },
    { from: 0, to: 9 },
  ])
  // The name of a file has the beginning of its last hash.
  const last = hexOf(chain[9]!.hash)
  const named = await looked(folder({ [`local-0-${last.slice(2, 10)}.ere`]: files['local-0-a.ere'] }), { anchor: last })
  expect(await named.anchorIn({ from: 0, to: 30 }, signal)).toMatchObject({ number: 9, evidence: 'receipts-root' })
  expect(await (await looked(folder(files))).anchorIn({ from: 0, to: 19 }, signal)).toBeUndefined()
})

test('whole epochs are proven by the accumulator, up to the merge', async () => {
  const chain = [...madeChain(8_192, 5)]
  const records = Buffer.concat(chain.flatMap(({ hash, difficulty }) => [hash, Buffer.from(difficulty!)]))
  const accumulator = Buffer.concat([Buffer.alloc(32), epochRoot(records)])
  const made: Network = {
    ...{ ...networks[0]!, name: 'made', chain: defineChain({ name: 'made', id: 4_242 }) },
    ...{ accumulator: () => accumulator, mergeBlock: 8_197 },
  }
  ;(networks as Network[]).push(made)
  onTestFinished(() => void (networks as Network[]).pop())
  const options = { chain: made.chain }
  const bare = chain.map(block => ({ ...block, difficulty: undefined }))
  const source = await looked(
    folder({ 'made-00001-0.ere': writeEre(8_192, bare), 'made-00001-1.ere': writeEre(8_192, chain) }),
    options,
  )
  // Of two files the one that proves more.
  expect(source.lines).toMatchObject([{ file: 'made-00001-0.ere' }])
  expect(await readAll(source)).toEqual([{ from: 8_192, to: 8_196, anchor: 'canonical' }])
  const part = await source.range({ from: 8_192, to: 8_194 }, transfers, signal)
  expect(part.anchor).toBe('canonical')
  const hash = hexOf(chain[3]!.hash)
  expect(await source.anchorIn({ from: 0, to: 8_195 }, signal)).toEqual({ number: 8_195, hash, evidence: 'canonical' })
  const path = folder({ 'made-00001-0.ere': writeEre(8_192, madeChain(8_192, 5, 2)), new: writeEre(8_192, chain) })
  const replaced = await looked(path, options)
  await replaced.header(8_196, signal)
  renameSync(join(path, 'new'), join(path, 'made-00001-0.ere'))
  // What proves the new file proves nothing of the one that is still open.
  expect(await replaced.anchorIn({ from: 8_192, to: 8_196 }, signal)).toBeUndefined()
  await replaced.look(signal)
  expect(await replaced.anchorIn({ from: 8_192, to: 8_196 }, signal)).toMatchObject({ hash: hexOf(chain[4]!.hash) })
  const forged = await looked(folder({ 'made-00001-0.ere': writeEre(8_192, madeChain(8_192, 5, 2)) }), options)
  await expect(forged.range({ from: 8_192, to: 8_196 }, transfers, signal)).rejects.toThrow('another chain')
  expect(await forged.anchorIn({ from: 8_192, to: 8_196 }, signal)).toBeUndefined()
  expect(forged.status().refused).toMatchObject([{ name: 'made-00001-0.ere' }])
})

test('a file of any chain that says another accumulator, or has another total difficulty, is refused', async () => {
  const chain = [...madeChain(3, 4)]
  const said = accumulatorOf(chain)
  const altered = chain.map((block, at) => (at === 2 ? { ...block, difficulty: Buffer.alloc(32, 7) } : block))
  const whole = await looked(folder({ 'local-00000-0.era1': writeEra1(3, chain, said) }))
  expect(await readAll(whole)).toEqual([{ from: 3, to: 6 }])
  for (const bytes of [writeEra1(3, chain, Buffer.alloc(32, 9)), writeEra1(3, altered, said)]) {
    const name = 'local-00000-0.era1'
    const report = await checkFile(join(folder({ [name]: bytes }), name), bytes.length, { roots: {}, signal })
    const source = await looked(folder({ [name]: bytes }))
    await expect(source.range({ from: 3, to: 6 }, transfers, signal)).rejects.toThrow('says that its headers hash to')
    // In the words of `history check`.
    expect(source.status().refused).toEqual([{ name, reason: report.problem?.message }])
    expect(source.holds).toEqual([])
  }
})

const byNumber = (): Map<number, WrittenBlock> =>
  new Map(mainnetBlocks().map(block => [readHeader(block.header).number, block]))

test('proofs of blocks are checked against the roots that the operator gives', async () => {
  const blocks = byNumber()
  const pair = [17_034_869, 17_034_870]
  const file = writeEre(pair[0]!, [blocks.get(pair[0]!)!, blocks.get(pair[1]!)!])
  const path = folder({ 'mainnet-02079-0.ere': file })
  const { historicalRoots, historicalSummaries } = mainnetBeaconRoots()
  const interval = { from: pair[0]!, to: pair[1]! }
  const trial = async (summaries: string[]) => {
    const source = await looked(path, { chain: eth, summaries })
    const parts = await readAll(source)
    return { parts, anchor: await source.anchorIn(interval, signal), reason: source.status().reason }
  }
  expect(await trial([])).toEqual({ parts: [interval], anchor: undefined, reason: undefined })
  const [roots, list] = [join(path, 'roots.ssz'), join(path, 'summaries.json')]
  writeFileSync(roots, historicalRoots.subarray(0, 758 * 32))
  const entries = Array.from({ length: 1_000 }, (_, at) => {
    const root = (from: number): string => hexOf(historicalSummaries.subarray(64 * at + from, 64 * at + from + 32))
    return { block_summary_root: root(0), state_summary_root: root(32) }
  })
  const json = JSON.stringify({ data: { historical_summaries: entries } })
  writeFileSync(list, json)
  const hash = (number: number): Hash => readHeader(Buffer.from(blocks.get(number)!.header)).hash
  // The first is of the last epoch before Capella, the second after it.
  expect(await trial([roots, list])).toEqual({
    parts: [{ ...interval, anchor: 'canonical' }],
    anchor: { number: pair[1], hash: hash(pair[1]!), evidence: 'canonical' },
    reason: undefined,
  })
  expect(await trial([roots])).toEqual({
    parts: [
      { from: pair[1], to: pair[1] },
      { from: pair[0], to: pair[0], anchor: 'canonical' },
    ],
    anchor: { number: pair[0], hash: hash(pair[0]!), evidence: 'canonical' },
    reason: undefined,
  })
  // What is wrong with roots is told, and stops nothing.
  writeFileSync(roots, 'no roots at all')
  expect(await trial([roots])).toMatchObject({ parts: [interval], reason: expect.stringContaining('is not a list') })
  // Roots of another chain refuse the file.
  writeFileSync(list, json.replaceAll(/0x[0-9a-f]{64}/g, `0x${'77'.repeat(32)}`))
  const lied = await looked(path, { chain: eth, summaries: [list] })
  await expect(lied.range(interval, transfers, signal)).rejects.toThrow('its proof leads to the root')

  const asked: string[] = []
  let answer: (url: string) => [number, string] = () => [404, '']
  const node = createServer((request, response) => {
    asked.push(request.url!)
    const [status, body] = answer(request.url!)
    response.writeHead(status).end(body)
  })
  await new Promise<void>(resolve => node.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void node.close())
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}/key?token=secret`
  const nimbus = '/nimbus/v1/debug/beacon/states/finalized/historical_summaries'
  const lodestar = '/eth/v1/lodestar/states/finalized/historical_summaries'
  const refused = await trial([url])
  expect(asked.sort()).toEqual([`/key${lodestar}?token=secret`, `/key${nimbus}?token=secret`])
  expect(refused.parts).toEqual([interval])
  expect(refused.reason).toContain(`GET ${nimbus}: it answered 404; GET ${lodestar}: it answered 404`)
  expect(refused.reason).not.toContain('secret')
  for (const [path, body] of [
    [nimbus, json],
    [lodestar, json],
  ] as const) {
    answer = asked => (asked.includes(path) ? [200, body] : [404, ''])
    expect((await trial([url])).anchor?.number).toBe(pair[1])
  }
  answer = () => [200, ' '.repeat(17 * 2 ** 20)]
  // On a busy machine so many bytes take longer than a look waits for them.
  const flooded = await looked(path, { chain: eth, summaries: [url] })
  await expect
    .poll(() => flooded.status().reason, { timeout: 30_000 })
    .toContain('it answered more than 16777216 bytes')
})

test('threads give what is given here, and every format the same rows', async () => {
  const blocks = byNumber()
  const [number, block] = [...blocks][0]!
  const ere = folder({ 'a.ere': writeEre(number, [block]) })
  const full = { ...block, receipts: fullReceipts(block as never), difficulty: new Uint8Array(32) }
  const era1 = folder({ 'a.era1': writeEra1(number, [full], accumulatorOf([full])) })
  const pool = new DecodePool({ threads: 1 })
  onTestFinished(() => pool.close())
  const interval = { from: number, to: number }
  const read = async (path: string, scope: 'transfers' | 'full', decoder: FileSourceOptions['decoder']) => {
    const {
      bytes: _,
      anchor: __,
      ...range
    } = await (await looked(path, { chain: eth, decoder })).range(interval, { scope }, signal)
    return range
  }
  const here = await read(ere, 'full', inlineDecoder)
  expect(here.activity.length).toBeGreaterThan(0)
  expect(await read(ere, 'full', pool)).toEqual(here)
  expect(await read(era1, 'full', pool)).toEqual(here)
  expect(await read(era1, 'transfers', pool)).toEqual({ ...here, activity: new Uint8Array() })
  const cut = await looked(folder({ 'a.ere': flipped(writeEre(number, [block]), 9_000) }), {
    chain: eth,
    decoder: pool,
  })
  await expect(cut.range(interval, transfers, signal)).rejects.toThrow(SourceLost)
})

test('what is no regular file is refused, and not waited for', async () => {
  const path = folder()
  const pipe = join(path, 'pipe.era1')
  execFileSync('mkfifo', [pipe])
  expect((await looked(path)).status()).toMatchObject({ state: 'empty', refused: [] })
  expect((await looked(pipe)).status().refused).toEqual([{ name: 'pipe.era1', reason: 'is not a regular file' }])
})

test('records that hold more than any block are refused before they are unpacked', async () => {
  const [block] = madeChain(0, 1)
  // In frames a run of bytes takes a twentieth of itself.
  const many = Buffer.alloc(65 * 2 ** 20)
  const ofHeader = await looked(folder({ 'local-00000-a.ere': writeEre(0, [{ ...block!, header: many }]) }))
  expect(ofHeader.status().refused[0]?.reason).toContain('more than history has')
  const ofBody = await looked(folder({ 'local-00000-a.ere': writeEre(0, [{ ...block!, body: many }]) }))
  await expect(ofBody.range({ from: 0, to: 0 }, transfers, signal)).rejects.toThrow('more than history has')
})

test('a hole between the records of a block is not read to its end', async () => {
  const [block] = madeChain(0, 1)
  const bytes = writeEra1(0, [block!], accumulatorOf([block!]))
  const [, header] = recordStarts(bytes)
  const after = header! + 8 + bytes.readUInt32LE(header! + 2)
  const hole = Buffer.concat([bytes.subarray(0, after), Buffer.alloc(8 * 100), bytes.subarray(after)])
  // Its offset is counted from the index, which has moved.
  hole.writeBigInt64LE(hole.readBigInt64LE(hole.length - 16) - 800n, hole.length - 16)
  const source = await looked(folder({ 'local-00000-a.era1': hole }))
  await expect(source.range({ from: 0, to: 0 }, transfers, signal)).rejects.toThrow('more than 64 records')
})

test('headers that are read one below another let others in between', async () => {
  const source = await looked(folder({ 'local-00000-a.ere': writeEre(0, madeChain(0, 30)) }))
  let turns = 0
  const timer = setInterval(() => turns++)
  onTestFinished(() => clearInterval(timer))
  const started = performance.now()
  for (let read = 0; read < 10_000 && (turns === 0 || performance.now() - started < 20); read++)
    await source.header(read % 30, signal)
  expect(turns).toBeGreaterThan(0)
})

test('roots are not waited for from what is no regular file', async () => {
  const path = folder({
    'local-00000-a.ere': writeEre(
      0,
      madeChain(0, 1).map(block => ({ ...block, proof: { type: 0, ssz: Buffer.alloc(32) } })),
    ),
  })
  const pipe = join(path, 'summaries')
  execFileSync('mkfifo', [pipe])
  const source = await looked(path, { summaries: [pipe] })
  expect(source.status().reason).toContain('is not a regular file')
})

/** A beacon node that answers as it is told, and whether it was asked. */
async function beaconNode(answer: (response: ServerResponse) => void): Promise<string> {
  const node = createServer((_, response) => answer(response))
  await new Promise<void>(resolve => node.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    node.closeAllConnections()
    node.close()
  })
  return `http://127.0.0.1:${(node.address() as AddressInfo).port}`
}

test('a beacon node that is slow keeps nothing waiting, and what it answers later proves', async () => {
  const blocks = byNumber()
  const number = 19_426_587
  const path = folder({ 'mainnet-02371-0.ere': writeEre(number, [blocks.get(number)!]) })
  const waiting: ServerResponse[] = []
  const url = await beaconNode(response => void waiting.push(response))
  const startedMs = performance.now()
  const source = await looked(path, { chain: eth, summaries: [url] })
  expect(performance.now() - startedMs).toBeLessThan(8_000)
  expect(await source.anchorIn({ from: number, to: number }, signal)).toBeUndefined()
  const before = source.proofs
  for (const response of waiting) response.end(mainnetBeaconRoots().historicalSummaries)
  await vi.waitFor(() => expect(source.proofs).toBeGreaterThan(before), 5_000)
  expect(await source.anchorIn({ from: number, to: number }, signal)).toMatchObject({ number, evidence: 'canonical' })
})

test('a beacon node is not followed to another host', async () => {
  const number = 19_426_587
  const path = folder({ 'mainnet-02371-0.ere': writeEre(number, [byNumber().get(number)!]) })
  const lists = await beaconNode(response => response.end(mainnetBeaconRoots().historicalSummaries))
  const url = await beaconNode(response => response.writeHead(302, { location: lists }).end())
  const source = await looked(path, { chain: eth, summaries: [url] })
  expect(await source.anchorIn({ from: number, to: number }, signal)).toBeUndefined()
  expect(source.status().reason).toContain('it answered 302')
})

test('a hash that no block has is looked for once, beside other work, and then told', async () => {
  const chain = madeChain(0, 600)
  const files = Array.from({ length: 200 }, (_, at) => [
    `local-${String(at).padStart(5, '0')}-a.ere`,
    writeEre(3 * at, chain.slice(3 * at, 3 * at + 3)),
  ])
  const path = folder(Object.fromEntries(files))
  const searched: string[] = []
  const decoder: FileSourceOptions['decoder'] = {
    file: inlineDecoder.file,
    async proof(task) {
      searched.push(task.file.path)
      return await inlineDecoder.proof(task)
    },
  }
  const source = await looked(path, { decoder, anchor: `0x${'11'.repeat(32)}` as Hash })
  await vi.waitFor(async () => {
    expect(await source.anchorIn({ from: 0, to: 599 }, signal)).toBeUndefined()
    expect(source.status().reason).toBe('no block of its files has the hash that `anchor` names')
  }, 10_000)
  expect(searched).toHaveLength(200)
  // What is read for the index need not be searched.
  const named = await looked(path, { decoder, anchor: hexOf(chain[301]!.hash) })
  searched.length = 0
  await readAll(named)
  expect(await named.anchorIn({ from: 0, to: 599 }, signal)).toMatchObject({ number: 301 })
  expect(searched).toEqual([])
})

test('what ends a thread is read in smaller parts, and a block that ends it alone is told', async () => {
  const path = folder({ 'local-00000-a.ere': writeEre(0, madeChain(0, 30)) })
  const asked: number[] = []
  const decoder: FileSourceOptions['decoder'] = {
    proof: inlineDecoder.proof,
    async file(task) {
      const { from, to } = task.interval
      asked.push(to - from + 1)
      if (to - from + 1 <= 2 && to > 5) return await inlineDecoder.file(task)
      return { ok: false, failure: { message: 'could not be read (it was silent)', isPassing: 'thread ended' } }
    },
  }
  const source = await looked(path, { decoder })
  expect(await source.range({ from: 0, to: 29 }, transfers, signal)).toMatchObject({ interval: { from: 28, to: 29 } })
  expect(asked).toEqual([30, 8, 2])
  // The next ones are smaller at once, and grow again.
  expect(source.blocksAt(27)).toBeLessThanOrEqual(4)
  await expect(source.range({ from: 2, to: 5 }, transfers, signal)).rejects.toThrow(SourceLost)
  expect(source.status().refused[0]?.reason).toContain('could not be read')
  expect(source.refusals).toBe(1)
})

test('links that lead nowhere, or to each other, are named', async () => {
  const path = folder({ 'local-00000-a.ere': writeEre(0, madeChain(0, 3)) })
  symlinkSync(join(path, 'gone'), join(path, 'local-00001-b.ere'))
  symlinkSync(join(path, 'local-00002-c.ere'), join(path, 'local-00002-c.ere'))
  const source = await looked(path)
  expect(source.holds).toEqual([{ from: 0, to: 2 }])
  expect(source.status().refused).toEqual([
    { name: 'local-00001-b.ere', reason: expect.stringContaining('ENOENT') },
    { name: 'local-00002-c.ere', reason: expect.stringContaining('ELOOP') },
  ])
})

test('a file that is cut, grows, goes or is replaced while it is read gives nothing wrong, and is read anew', async () => {
  const chain = madeChain(0, 400)
  const path = folder()
  const name = 'local-00000-a.ere'
  const file = join(path, name)
  const whole = writeEre(0, chain)
  writeFileSync(file, whole)
  const pool = new DecodePool({ threads: 1 })
  onTestFinished(() => pool.close())
  const source = await looked(path, { decoder: pool })
  const harms: (() => void)[] = [
    () => truncateSync(file, whole.length >> 1),
    () => appendFileSync(file, whole.subarray(0, 999)),
    () => rmSync(file),
    () => {
      writeFileSync(join(path, 'next'), writeEre(0, madeChain(0, 400, 2)))
      renameSync(join(path, 'next'), file)
    },
    () => void chmodSync(file, 0o000),
  ]
  for (const harm of harms) {
    let to = 399
    const reading = (async () => {
      for (; to >= 0; ) {
        const { interval, headers } = await source.range({ from: Math.max(0, to - 9), to }, transfers, signal)
        expect(headers.map(({ hash }) => hash)).toEqual(numbersIn(interval).map(number => hexOf(chain[number]!.hash)))
        to = interval.from - 1
        if (to === 299) harm()
      }
    })()
    // Root may read whatever its mode is.
    await reading.catch(error => expect(error).toBeInstanceOf(SourceLost))
    await source.look(signal)
    expect([[], [{ from: 0, to: 399 }]]).toContainEqual(source.holds)
    rmSync(file, { force: true })
    writeFileSync(file, whole)
    await source.look(signal)
    expect(source.holds).toEqual([{ from: 0, to: 399 }])
  }
})
