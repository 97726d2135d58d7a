// The decoders and checks on real recordings: Polygon mainnet blocks with a reorganisation, and the whole chain of hive.
import * as Hash from 'ox/Hash'
import * as Eip1559 from 'ox/TxEnvelopeEip1559'
import * as Eip2930 from 'ox/TxEnvelopeEip2930'
import * as Eip4844 from 'ox/TxEnvelopeEip4844'
import * as Eip7702 from 'ox/TxEnvelopeEip7702'
import * as Legacy from 'ox/TxEnvelopeLegacy'
import { describe, expect, test } from 'vitest'
import { ChainTable } from '../src/chains.ts'
import { collectActivity } from '../src/evm/decode/activity.ts'
import { decodeTransfers } from '../src/evm/decode/decode.ts'
import { sequenceLogs, splitByBlock } from '../src/evm/decode/log-sequence.ts'
import { earlyCollectionsOf } from '../src/evm/decode/token-events.ts'
import { type FileTransaction, readTransactions } from '../src/evm/files/file-transactions.ts'
import { blockHashOf } from '../src/evm/proof/block-hash.ts'
import { encodeRlp, encodeRlpList } from '../src/evm/proof/rlp.ts'
import { rlpList } from '../src/evm/proof/rlp-cursor.ts'
import { checkSender } from '../src/evm/proof/senders.ts'
import { listRoot } from '../src/evm/proof/trie.ts'
import { checkHeaders, verifyLogs } from '../src/evm/proof/verify.ts'
import type { RpcBlock, RpcLog, RpcTransaction } from '../src/evm/rpc/port.ts'
import { parseHex } from '../src/hex.ts'
import type { ChainId, TransferRow } from '../src/model.ts'
import { unpackActivity } from '../src/store/packed-activity.ts'
import { unpackTransfer } from '../src/store/transfer-payload.ts'
import { canonicalSteps, hiveBlocks, hiveLogs, hiveWallets, polygonSteps } from './recordings.ts'

const chains = new ChainTable()
const polygon = chains.parse('polygon')!
const eth = chains.parse('eth')!
const hiveChain = 0xc72dd9d5e883e
const numberOf = (block: RpcBlock): number => Number(block.number)

const nothing = () => undefined

function tokensOf(chain: ChainId, logs: readonly RpcLog[]) {
  const sequence = sequenceLogs([...logs], { complete: true })
  return decodeTransfers({
    ...{ logs: sequence, ledger: 'erc20' },
    ...{ earlyCollections: earlyCollectionsOf(chain), transactionOf: nothing },
  })
}

/** Three topics of the event and one word of data, in the order of the chain. */
function tokenWords(logs: readonly RpcLog[]): string[] {
  return logs
    .filter(({ topics, data }) => topics.length === 3 && topics[0] === transferEvent && data.length === 66)
    .map(({ blockNumber, logIndex, address, topics: [, from, to], data }) =>
      [Number(blockNumber), Number(logIndex), address, `0x${from!.slice(26)}`, `0x${to!.slice(26)}`, BigInt(data)].join(
        ' ',
      ),
    )
}

function shownToken({ block, logIndex, contract, payload }: TransferRow): string {
  const { from, to, amount } = unpackTransfer(payload)
  return [block, logIndex, contract, from, to, amount].join(' ')
}

const transferEvent = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

describe('polygon', () => {
  const steps = polygonSteps()
  const canonical = canonicalSteps(steps)

  test('every NFT transfer of the canonical chain is found, by contract and standard', () => {
    const logs = sequenceLogs(
      canonical.flatMap(step => step.logs),
      { complete: true },
    )
    const blocks = new Map(canonical.map(({ block }) => [numberOf(block), block]))
    const { rows, malformed } = decodeTransfers({
      logs,
      earlyCollections: earlyCollectionsOf(polygon.id),
      transactionOf: (_, block, index) => blocks.get(block)?.transactions[index] as RpcTransaction | undefined,
    })
    expect(Object.values(malformed)).toEqual(Object.values(malformed).map(() => 0))
    const counts: Record<string, [number, number]> = {}
    for (const row of rows) {
      const count = counts[row.contract] ?? [0, 0]
      count[unpackTransfer(row.payload).standard === 'ERC721' ? 0 : 1]++
      counts[row.contract] = count
    }
    expect(rows.length).toBe(63)
    expect(counts).toEqual({
      '0x4d97dcd97ec945f40cf65f87097ace5ea0476045': [0, 48],
      '0x598e29cd83582702ea289c1cb50b051484b7212c': [4, 0],
      '0x86935f11c86623dec8a25696e1c19a8659cbf95d': [1, 3],
      '0x2bbd787c23b62ecb0173d850cc406e4d2a03b02c': [3, 0],
      '0x257d2190399404f7a4ae8f0605763f4a39bc3f8f': [1, 0],
      '0x3165feae42a182e5ec33bafa9f326e8c409fdbe6': [1, 0],
      '0xbccaa7acb552a2c7eb27c7eb77c2cc99580735b9': [1, 0],
      '0xf556faf23fc2feefa33ee6db2d1ee4c70e534513': [1, 0],
    })
  })

  test('every ERC-20 transfer is found and no NFT, as by reading the words of the logs alone', () => {
    const logs = canonical.flatMap(step => step.logs)
    const { rows, malformed } = tokensOf(polygon.id, logs)
    expect(Object.values(malformed)).toEqual(Object.values(malformed).map(() => 0))
    const expected = tokenWords(logs)
    expect(expected.length).toBe(342)
    expect(rows.map(shownToken)).toEqual(expected)
  })

  test('all 57 blocks pass, the orphan included, and the headers are linked', () => {
    expect(steps.length).toBe(57)
    for (const { block, logs } of steps) {
      const verdict = verifyLogs({ chain: polygon, block, logs: sequenceLogs(logs, { complete: true }) })
      const stateSync = numberOf(block) === 13_522_176
      expect(verdict).toMatchObject({ ok: true, evidence: 'bloom' })
      expect('doubt' in verdict).toBe(stateSync)
      expect(blockHashOf(block)).toBe(block.hash)
    }
    const headers = canonical.map(step => step.block)
    const range = { chain: polygon, from: 13_522_175, to: 13_522_230, headers }
    expect(checkHeaders(range)).toBeUndefined()
    expect(checkHeaders({ ...range, headers: headers.with(19, steps[19]!.block) })).toMatchObject({
      check: 'links',
      block: 13_522_195,
    })
  })

  test('the state-sync transaction needs its quirk', () => {
    const { block, logs } = canonical.find(step => numberOf(step.block) === 13_522_176)!
    const sequence = sequenceLogs(logs, { complete: true })
    const verdict = verifyLogs({ chain: { ...polygon, quirks: {} }, block, logs: sequence })
    expect(verdict).toMatchObject({ ok: false, failure: { check: 'bloom', block: 13_522_176 } })
    const beyond = { ...block, transactions: block.transactions.slice(0, -1) }
    expect(verifyLogs({ chain: polygon, block: beyond, logs: sequence }).ok).toBe(true)
  })

  test('not one dropped log goes unnoticed, unless it is the last of its block', () => {
    let hidden = 0
    let dropped = 0
    for (const { block, logs } of canonical) {
      const stateSync = numberOf(block) === 13_522_176 ? 1 : 0
      for (let drop = 0; drop < logs.length - stateSync; drop++) {
        const rest = sequenceLogs(logs.toSpliced(drop, 1), { complete: true })
        const { ok } = verifyLogs({ chain: polygon, block, logs: rest })
        dropped++
        if (!ok) continue
        hidden++
        expect(drop).toBe(logs.length - stateSync - 1)
      }
    }
    expect(dropped).toBeGreaterThan(1_800)
    // What the bloom alone cannot see, and why full mode prefers receipts.
    expect(hidden).toBeLessThan(canonical.length)
  })
})

describe('hive', () => {
  const blocks = hiveBlocks()
  const logs = hiveLogs()

  test('all 55 blocks pass by bloom and block hash', () => {
    expect(checkHeaders({ chain: eth, from: 0, to: 54, headers: blocks })).toBeUndefined()
    const { parts, strays } = splitByBlock(sequenceLogs(logs, { complete: true }), blocks.map(numberOf))
    expect(strays).toBe(0)
    for (const [index, block] of blocks.entries()) {
      expect(blockHashOf(block)).toBe(block.hash)
      expect(verifyLogs({ chain: eth, block, logs: parts[index]! })).toEqual({ ok: true, evidence: 'bloom' })
    }
  })

  test('the trie gives the transactions root of every block', () => {
    for (const block of blocks) {
      const encoded = (block.transactions as RpcTransaction[]).map(transaction => parseHex(serialized(transaction))!)
      expect(`0x${Buffer.from(listRoot(encoded)).toString('hex')}`).toBe(block.transactionsRoot)
    }
  })

  /** As a file of history has them: from bytes alone. */
  const fileTransactions = (block: RpcBlock): FileTransaction[] => {
    const items = (block.transactions as RpcTransaction[]).map(transaction => {
      const bytes = parseHex(serialized(transaction))!
      return bytes[0]! >= 0xc0 ? bytes : encodeRlp(bytes)
    })
    return readTransactions(rlpList(Buffer.from(encodeRlpList(items))), hiveChain).transactions
  }

  test('every sender is recovered from bytes, of every type, and checked as nodes report it', () => {
    const types = new Map<string, number>()
    for (const block of blocks) {
      const transactions = block.transactions as RpcTransaction[]
      for (const [index, { hash, from }] of fileTransactions(block).entries()) {
        const { type, v } = transactions[index] as RpcTransaction & { v: string }
        expect({ hash, from }).toEqual({ hash: transactions[index]!.hash, from: transactions[index]!.from })
        expect(checkSender(transactions[index]!)).toBeUndefined()
        const lie = { ...transactions[index]!, from: hash.slice(0, 42) }
        if (index === 0) expect(checkSender(lie)).toBe(`${from} signed it, reported is ${lie.from}`)
        const kind = Number(type) > 0 ? type! : Number(v) < 35 ? 'before EIP-155' : 'EIP-155'
        types.set(kind, (types.get(kind) ?? 0) + 1)
      }
    }
    const expected = { 'before EIP-155': 73, 'EIP-155': 123, '0x1': 23, '0x2': 23, '0x3': 6, '0x4': 1 }
    expect(Object.fromEntries(types)).toEqual(expected)
  })

  test.each(['as nodes report them', 'as files hold them'])('wallets are as recorded, transactions %s', how => {
    const expected = hiveWallets()
    const creations = blocks.flatMap(block => (block.transactions as RpcTransaction[]).filter(({ to }) => to === null))
    const { packed, unreadable } = collectActivity({
      blocks: how.includes('nodes')
        ? blocks
        : blocks.map(block => ({ ...block, transactions: fileTransactions(block) })),
      logs: sequenceLogs(logs, { complete: true }),
      earlyCollections: new Map(),
    })
    expect(unreadable).toBe(0)
    const rows = unpackActivity(packed)
    const found = new Map(rows.map(row => [row.address as string, row]))
    for (const [address, { first_transaction: first, last_transaction: last }] of Object.entries(expected)) {
      const row = found.get(address)
      expect(row?.first, address).toMatchObject({
        block: Number(first.block_number),
        hash: first.transaction_hash,
        timestamp: first.timestamp,
      })
      expect(row?.last, address).toMatchObject({
        block: Number(last.block_number),
        hash: last.transaction_hash,
        timestamp: last.timestamp,
      })
    }
    // What is more than from and to: created contracts, which the recording leaves out, and no party of a token.
    const created = new Set(rows.filter(row => !(row.address in expected)).map(row => row.first.hash))
    expect(created.size).toBe(found.size - Object.keys(expected).length)
    for (const hash of created) expect(creations.map(creation => creation.hash)).toContain(hash)
  })
})

/** A transaction as it is hashed, by ox; its hash tells that it is the same. */
function serialized(transaction: RpcTransaction): `0x${string}` {
  const given = transaction as unknown as Record<string, never> & { authorizationList?: Record<string, string>[] }
  const kinds = { '0x0': Legacy, '0x1': Eip2930, '0x2': Eip1559, '0x3': Eip4844, '0x4': Eip7702 }
  const number = (name: string): bigint | undefined => (given[name] === undefined ? undefined : BigInt(given[name]))
  const kind = kinds[(transaction.type ?? '0x0') as keyof typeof kinds]
  const isLegacy = kind === Legacy
  const v = number('v') ?? 0n
  const legacyChain = v > 35n ? Number((v - 35n) / 2n) : undefined
  const legacyParity = legacyChain === undefined ? v - 27n : (v - 35n) % 2n
  const text = kind.serialize(
    {
      chainId: isLegacy ? legacyChain : Number(given.chainId),
      nonce: BigInt(transaction.nonce),
      to: transaction.to ?? undefined,
      value: BigInt(transaction.value),
      data: given.input,
      gas: number('gas'),
      ...(isLegacy || kind === Eip2930
        ? { gasPrice: number('gasPrice') }
        : { maxFeePerGas: number('maxFeePerGas'), maxPriorityFeePerGas: number('maxPriorityFeePerGas') }),
      accessList: given.accessList,
      blobVersionedHashes: given.blobVersionedHashes,
      maxFeePerBlobGas: number('maxFeePerBlobGas'),
      authorizationList: given.authorizationList?.map(entry => ({
        ...entry,
        address: entry.address,
        chainId: Number(entry.chainId),
        nonce: BigInt(entry.nonce!),
        yParity: Number(entry.yParity),
        r: BigInt(entry.r!),
        s: BigInt(entry.s!),
      })),
    } as never,
    {
      signature: {
        r: number('r')!,
        s: number('s')!,
        yParity: Number(isLegacy ? legacyParity : (number('yParity') ?? v)),
      },
    },
  )
  expect(Hash.keccak256(text)).toBe(transaction.hash)
  return text
}
