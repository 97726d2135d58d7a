import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { fullReceipts, madeChain } from '../../../test/history-blocks.ts'
import { flipped, harmOf, recordStarts, storedOf, withFile } from '../../../test/history-flips.ts'
import { accumulatorOf } from '../../../test/history-proofs.ts'
import { record, type WrittenBlock, writeEra1, writeEre } from '../../../test/history-writer.ts'
import { type MainnetBlock, mainnetBeaconRoots, mainnetBlocks, sepoliaRecords } from '../../../test/recordings.ts'
import { readHeader } from '../../evm/files/file-block.ts'
import { byAccumulator, HeaderRecords, nextHeader } from '../../evm/files/file-headers.ts'
import { HistoryFile } from '../../evm/files/history-file.ts'
import { type BeaconRoots, type Network, networks, readBeaconNodes } from '../../evm/files/networks.ts'
import { checkFile, type FileReport } from './check-file.ts'
import { checkFolder } from './check-folder.ts'

let blocks: (MainnetBlock & { number: number; difficulty?: Buffer | undefined })[]
/** Without the one of 1.6 MB. */
let small: typeof blocks
let roots: BeaconRoots

beforeAll(() => {
  blocks = mainnetBlocks().map(block => {
    const difficulty = block.proof?.type === 0 ? block.proof.ssz.subarray(0, 32) : undefined
    return { ...block, difficulty, number: readHeader(block.header).number }
  })
  small = blocks.filter(({ receipts }) => receipts.length < 1_000_000)
  roots = mainnetBeaconRoots()
})

const signal = new AbortController().signal
const check = (
  bytes: Uint8Array,
  name = 'mainnet-00001-00000000.ere',
  given: BeaconRoots = roots,
): Promise<FileReport> => withFile(name, bytes, path => checkFile(path, bytes.length, { roots: given, signal }))
const numbered = (number: number): WrittenBlock => blocks.find(block => block.number === number)!

test('every kind of proof proves its headers, and only with roots that were given', async () => {
  const kinds = new Map<string, number>()
  for (const block of small) {
    const file = writeEre(block.number, [block])
    const { problem, proven, unproven, holds, checked } = await check(file)
    expect(problem).toBeUndefined()
    expect(holds).toMatchObject({ format: 'ere', from: block.number, to: block.number, whole: false, receipts: true })
    expect(checked.blocks).toBe(1)
    const by = proven[0]?.by ?? 'nothing'
    kinds.set(by, (kinds.get(by) ?? 0) + 1)
    expect(proven).toEqual(by === 'nothing' ? [] : [{ from: block.number, to: block.number, by }])
    expect(unproven === undefined).toBe(by !== 'nothing')
    const alone = await check(file, undefined, {})
    expect(alone.problem).toBeUndefined()
    expect(alone.proven).toEqual(by === 'accumulator' ? proven : [])
    if (by.startsWith('historical')) expect(alone.unproven).toMatch(/has no entry \d+/)
  }
  expect(Object.fromEntries(kinds)).toEqual({
    accumulator: 2,
    'historical-roots': 2,
    'historical-summaries': 5,
    nothing: 3,
  })
})

test('a proof that leads elsewhere makes the file unusable', async () => {
  for (const block of small.filter(({ proof }) => proof !== undefined)) {
    const ssz = Buffer.from(block.proof!.ssz)
    // The first node, the last one, and where there is a slot, the slot.
    for (const at of [0, ssz.length - 40, ...(block.proof!.type === 0 ? [] : [ssz.length - 7])]) {
      const proof = { type: block.proof!.type, ssz: flipped(ssz, 8 * at) }
      const { problem, proven } = await check(writeEre(block.number, [{ ...block, proof }]))
      expect(problem, `${block.number} at ${at}`).toMatchObject({ block: block.number })
      expect(proven).toEqual([])
    }
  }
  const block = blocks[0]!
  const unknown = await check(writeEre(block.number, [{ ...block, proof: { ...block.proof!, type: 4 } }]))
  expect(unknown).toMatchObject({ problem: undefined, proven: [], unproven: expect.stringContaining('unknown type 4') })
})

test('blocks on both sides of a fork link in one file, with and without difficulties and proofs', async () => {
  const merge = 15_537_393
  for (const low of [merge, 17_034_869, 22_431_083]) {
    const high = low + 1
    const pair = [numbered(low), numbered(high)]
    const bare = pair.map(({ header, body, receipts }) => ({ header, body, receipts }))
    const difficulty = numbered(low).difficulty ?? new Uint8Array(32)
    for (const written of [pair, bare, bare.map(each => ({ ...each, difficulty }))].slice(0, low === merge ? 1 : 3)) {
      const report = await check(writeEre(low, written, { others: [record(0x4242, Buffer.from('unknown'))] }))
      expect(report).toMatchObject({ problem: undefined, checked: { blocks: 2 }, holds: { from: low, to: high } })
    }
    if (low === merge) continue
    const swapped = await check(writeEre(low, [pair[1]!, pair[0]!]))
    expect(swapped.problem).toEqual({ block: low, message: `is block ${high} by its header` })
    const twice = await check(writeEre(low, [pair[0]!, pair[0]!]))
    expect(twice.problem?.block).toBe(high)
  }
  const broken = await check(
    writeEre(
      0,
      [...madeChain(1, 1), ...madeChain(2, 1)].map(block => block),
    ),
    'local-0.ere',
  )
  expect(broken.problem?.block).toBe(0)
  const unlinked = await check(writeEre(1, [...madeChain(1, 1), ...madeChain(2, 1)]), 'local-00000-0.ere')
  expect(unlinked.problem).toMatchObject({ block: 2, message: expect.stringContaining('as its parent') })
})

test('era1 gives the same as ere, also where the records are those of go-ethereum', async () => {
  const block = blocks[0]!
  const era1 = writeEra1(block.number, [{ ...block, receipts: fullReceipts(block) }], accumulatorOf([block]))
  const [one, other] = await Promise.all(
    [era1, writeEre(block.number, [block])].map(bytes => withFile('mainnet-00001-0.era1', bytes, storedOf)),
  )
  expect(one).toBeDefined()
  expect(one).toBe(other)
  const report = await check(era1, 'mainnet-01802-00000000.era1')
  expect(report).toMatchObject({ problem: undefined, proven: [], unproven: expect.stringContaining('whole epochs') })
  const { from, count, bytes } = sepoliaRecords
  const records = bytes()
  const starts = recordStarts(records).filter(at => at < records.length && records.readUInt16LE(at) === 0x03)
  expect(starts).toHaveLength(count)
  const numbers = [from, ...starts.map(at => at - records.length), count].map(BigInt)
  const index = record(0x3266, Buffer.from(BigInt64Array.from(numbers).buffer))
  const sepolia = await check(Buffer.concat([record(0x3265), records, index]), 'sepolia-00021-b8814b14.era1')
  expect(sepolia).toMatchObject({ problem: undefined, checked: { blocks: count, logs: 0 }, proven: [] })
  expect(sepolia.checked.transactions).toBeGreaterThan(0)
  expect(sepolia.checked.lastHash).toBe('0xbfce89fd3a8aac243d464584d162aa6338b8ffabcfa036cf3d129dadc5a96871')
  const asMainnet = await check(Buffer.concat([record(0x3265), records, index]), 'mainnet-00021-b8814b14.era1')
  expect(asMainnet.problem?.message).toContain('signed for the chain 11155111')
})

test('the frozen accumulator proves whole epochs, and refuses headers of another chain', async () => {
  const chain = madeChain(8_192, 5)
  const accumulator = Buffer.concat([Buffer.alloc(32), accumulatorOf(chain)])
  const network: Network = { ...networks[0]!, accumulator: () => accumulator, mergeBlock: 8_197 }
  const verdict = (bytes: Uint8Array, against: Network = network) =>
    withFile('made.ere', bytes, path => {
      const file = new HistoryFile(path)
      onTestFinished(() => file.close())
      const records = new HeaderRecords(file)
      let before: ReturnType<typeof nextHeader> | undefined
      for (let number = file.from; number <= file.to; number++) {
        before = nextHeader(file, number, before)
        records.add(before)
      }
      return byAccumulator(file, records, against)
    })
  const proven = { from: 8_192, to: 8_196, by: 'accumulator' }
  expect(await verdict(writeEre(8_192, chain))).toEqual(proven)
  expect(await verdict(writeEra1(8_192, chain))).toEqual(proven)
  expect(await verdict(writeEre(8_192, chain.slice(0, 4)))).toEqual({ why: expect.stringContaining('whole epochs') })
  const bare = chain.map(block => ({ ...block, difficulty: undefined }))
  expect(await verdict(writeEre(8_192, bare))).toEqual({ why: expect.stringContaining('no total difficulties') })
  const forged = madeChain(8_192, 5, 2)
  await expect(verdict(writeEre(8_192, forged))).rejects.toThrow('another chain')
  const others = chain.map((block, at) => (at === 2 ? { ...block, difficulty: new Uint8Array(32) } : block))
  await expect(verdict(writeEre(8_192, others))).rejects.toThrow('another chain')
})

test('a file that says another accumulator than its headers have is refused, and so is a foreign genesis', async () => {
  const chain = madeChain(3, 4)
  expect((await check(writeEra1(3, chain, accumulatorOf(chain)), 'local-00000-0.era1')).problem).toBeUndefined()
  const lying = await check(writeEra1(3, chain), 'local-00000-0.era1')
  expect(lying.problem?.message).toContain('says that its headers hash to 0000')
  const genesis = await check(writeEre(0, madeChain(0, 2)), 'sepolia-00000-0.ere')
  expect(genesis.problem).toMatchObject({
    block: 0,
    message: expect.stringContaining('sepolia begins with 0x25a5cc10'),
  })
})

test('files without receipts are refused with a sentence', async () => {
  const { header, body } = blocks[0]!
  const report = await check(writeEre(blocks[0]!.number, [{ header, body }]), 'mainnet-01802-0-noproofs.ere')
  expect(report.holds).toMatchObject({ receipts: false, proofs: false, difficulties: false })
  expect(report.problem?.message).toMatch(/^has no receipts: .* Get a file that has them$/)
})

test('a file that is cut anywhere is refused', async () => {
  const file = writeEre(15_537_393, [numbered(15_537_393)])
  const cuts = new Set([
    ...recordStarts(file).slice(0, -1),
    ...Array.from({ length: 90 }, (_, at) => file.length - 1 - at),
  ])
  for (const length of [...cuts, 0, 1, 7]) {
    const { problem, proven } = await check(file.subarray(0, length))
    expect(problem?.message, `cut at ${length}`).toMatch(/is cut|not an e2store file|ends before/)
    expect(proven).toEqual([])
  }
})

test('a flipped bit changes nothing that is stored, or the file is refused', async () => {
  for (const bytes of [
    writeEre(15_537_393, [numbered(15_537_393)]),
    writeEra1(9, madeChain(9, 3), accumulatorOf(madeChain(9, 3))),
  ]) {
    const name = 'mainnet-00001-00000000.ere'
    const { proven } = await check(bytes, name)
    const stored = (await withFile(name, bytes, storedOf))!
    const whole = { stored, proven: JSON.stringify(proven), roots }
    for (let bit = 0; bit < 8 * bytes.length; bit += 211)
      expect(await harmOf(name, flipped(bytes, bit), whole), `bit ${bit}`).toBeUndefined()
  }
})

test('a folder is checked as a whole: gaps, files that others contain, and files that do not join', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-history-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const chain = madeChain(0, 10)
  const put = (name: string, bytes: Uint8Array): void => writeFileSync(join(folder, name), bytes)
  put('local-00000-a.ere', writeEre(0, chain.slice(0, 4)))
  put('local-00001-b.ere', writeEre(4, chain.slice(4, 6)))
  put('local-00001-c.era1', writeEra1(4, chain.slice(4, 6), accumulatorOf(chain.slice(4, 6))))
  put('local-00002-d.erae', writeEre(8, chain.slice(8)))
  put('notes.txt', Buffer.from('not a file of history'))
  const sound = await checkFolder(folder, { roots: {}, signal })
  expect(sound.files.map(({ problem }) => problem)).toEqual([undefined, undefined, undefined, undefined])
  expect(sound.gaps).toEqual([{ network: 'unknown', from: 6, to: 7 }])
  expect(sound.passedOver).toEqual(['local-00001-c.era1'])
  put('local-00001-b.ere', writeEre(4, madeChain(4, 2)))
  rmSync(join(folder, 'local-00001-c.era1'))
  const torn = await checkFolder(folder, { roots: {}, signal })
  expect(torn.files.find(({ problem }) => problem !== undefined)).toMatchObject({
    file: 'local-00001-b.ere',
    problem: { block: 4, message: expect.stringMatching(/^local-00001-b.ere grows from 0x0+, local-00000-a.ere ends/) },
  })
})

test('roots come as SSZ or as the JSON of a beacon node', () => {
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const hex = (bytes: Buffer): string => `0x${bytes.toString('hex')}`
  const summaries = { historical_summaries: [{ state_summary_root: hex(two), block_summary_root: hex(one) }] }
  const both = Buffer.concat([one, two])
  expect(readBeaconNodes(both)).toEqual(both)
  expect(readBeaconNodes(Buffer.from(JSON.stringify({ data: summaries })))).toEqual(both)
  expect(readBeaconNodes(Buffer.from(JSON.stringify({ historical_roots: [hex(two)] })))).toEqual(two)
  for (const wrong of ['', '{', '{}', '{"historical_roots":["0x12"]}', 'some text'])
    expect(readBeaconNodes(Buffer.from(wrong)), wrong).toBeUndefined()
})

test('what the system cannot read is a problem of that file alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-check-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const block = small[0]!
  writeFileSync(join(folder, 'mainnet-01802-a.ere'), writeEre(block.number, [block]))
  symlinkSync(join(folder, 'gone'), join(folder, 'mainnet-01803-b.ere'))
  symlinkSync(join(folder, 'mainnet-01804-c.ere'), join(folder, 'mainnet-01804-c.ere'))
  const { files } = await checkFolder(folder, { roots, signal })
  expect(files.map(({ problem }) => problem?.message)).toEqual([
    undefined,
    expect.stringMatching(/^cannot be read \(ENOENT/),
    expect.stringMatching(/^cannot be read \(ELOOP/),
  ])
  const stopped = AbortSignal.abort(new Error('stopped'))
  await expect(checkFolder(folder, { roots, signal: stopped })).rejects.toThrow('stopped')
})
