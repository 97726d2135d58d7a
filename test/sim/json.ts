// The JSON text of blocks, transactions, receipts and logs as nodes write it. Each block's texts are made once and kept with it.
import type { PlacedTransaction, SimBlock } from './block.ts'
import { bloomOf, headerConstants, listsOf, receiptBytes, signatureOf } from './encode.ts'
import type { EncodedLog } from './events.ts'
import { hexOfBytes } from './rlp.ts'

export type LogText = { log: EncodedLog; text: string }

type BlockTexts = { logs?: LogText[]; full?: string; light?: string; receipts?: string[] }
const textsOf = new WeakMap<SimBlock, BlockTexts>()

export type RenderOptions = {
  chainId: number
  stateSyncListed: boolean
  /** What a listed state-sync transaction says of its index; undefined: its place. */
  stateSyncIndex: number | undefined
  logTimestamps: boolean
}

export function logTexts(block: SimBlock, options: RenderOptions): LogText[] {
  const texts = textsFor(block)
  texts.logs ??= block.transactions.flatMap(transaction =>
    transaction.logs.map((log, at) => ({ log, text: logText(block, transaction, at, options) })),
  )
  return texts.logs
}

/** Only the logs that match are written, unless all were written before. */
export function matchingLogTexts(
  block: SimBlock,
  matches: (log: EncodedLog) => boolean,
  options: RenderOptions,
): LogText[] {
  const known = textsFor(block).logs
  if (known !== undefined) return known.filter(({ log }) => matches(log))
  return block.transactions.flatMap(transaction =>
    transaction.logs.flatMap((log, at) =>
      matches(log) ? [{ log, text: logText(block, transaction, at, options) }] : [],
    ),
  )
}

export function blockText(block: SimBlock, full: boolean, options: RenderOptions): string {
  const texts = textsFor(block)
  if (full)
    texts.full ??= makeBlockText(
      block,
      listed(block, options).map(t => transactionText(block, t, options)),
    )
  else
    texts.light ??= makeBlockText(
      block,
      listed(block, options).map(t => `"${t.hash}"`),
    )
  return (full ? texts.full : texts.light)!
}

/** One text for each listed transaction. */
export function receiptTexts(block: SimBlock, options: RenderOptions): string[] {
  const texts = textsFor(block)
  texts.receipts ??= listed(block, options).map(transaction => receiptText(block, transaction, options))
  return texts.receipts
}

/** The same as `debug_getRawReceipts` gives them: the bytes that the receipts root holds, which has no state sync. */
export function rawReceiptsText(block: SimBlock, options: RenderOptions): string {
  const held = listed(block, options).filter(({ stateSync }) => !stateSync)
  return JSON.stringify(held.map(transaction => hexOfBytes(receiptBytes(transaction))))
}

export function listed(block: SimBlock, { stateSyncListed }: RenderOptions): PlacedTransaction[] {
  return block.transactions.filter(transaction => stateSyncListed || !transaction.stateSync)
}

/** The head of a block as `newHeads` and blocks show it, without the closing brace. */
export function headerText(block: SimBlock): string {
  const { sha3Uncles, miner, extraData, mixHash, nonce } = headerConstants
  const { header } = block
  return (
    `{"number":"${quantity(block.number)}","hash":"${block.hash}","parentHash":"${header.parentHash}",` +
    `"nonce":"${nonce}","mixHash":"${mixHash}","sha3Uncles":"${sha3Uncles}","logsBloom":"${hexOfBytes(header.bloom)}",` +
    `"transactionsRoot":"${header.transactionsRoot}","stateRoot":"${header.stateRoot}",` +
    `"receiptsRoot":"${header.receiptsRoot}","miner":"${miner}","difficulty":"${quantity(header.difficulty)}",` +
    `"extraData":"${extraData}","gasLimit":"${quantity(headerConstants.gasLimit)}",` +
    `"gasUsed":"${quantity(header.gasUsed)}","timestamp":"${quantity(block.timestamp)}",` +
    `"baseFeePerGas":"${quantity(headerConstants.baseFeePerGas)}"` +
    `${header.added.map(({ name, text }) => `,"${name}":"${text}"`).join('')}${block.drawn === true ? ',"simulated":"0x1"' : ''}`
  )
}

export function transactionText(block: SimBlock, t: PlacedTransaction, options: RenderOptions): string {
  const { chainId, stateSyncIndex } = options
  const { r, s, parity } = signatureOf(chainId, t)
  const index = (t.stateSync ? stateSyncIndex : undefined) ?? t.index
  const to = t.to === null ? 'null' : `"${t.to}"`
  const price = quantity(t.gasPrice)
  return (
    `{"blockHash":"${block.hash}","blockNumber":"${quantity(block.number)}","from":"${t.from}",` +
    `"gas":"${quantity(t.gasUsed)}","gasPrice":"${price}","hash":"${t.hash}","input":"${t.input}",` +
    `"nonce":"${quantity(t.nonce)}","to":${to},"transactionIndex":"${quantity(index)}",` +
    `"value":"${quantity(t.value)}",${typedText(t, chainId, parity)},"r":"${r}","s":"${s}"}`
  )
}

function typedText(t: PlacedTransaction, chainId: number, parity: number): string {
  if (t.type === 0) return `"type":"0x0","v":"${quantity(chainId * 2 + 35 + parity)}"`
  const price = quantity(t.gasPrice)
  const fees = t.type === 1 ? '' : `"maxFeePerGas":"${price}","maxPriorityFeePerGas":"${price}",`
  const { accessList, blobHashes, authorizations } = listsOf(chainId, t)
  const blobs = `"maxFeePerBlobGas":"${price}","blobVersionedHashes":${JSON.stringify(blobHashes)},`
  const authorized = authorizations.map(({ address, ...given }) => ({
    ...{ chainId: quantity(given.chainId), address, nonce: quantity(given.nonce), yParity: quantity(given.parity) },
    ...{ r: quantity(BigInt(given.r)), s: quantity(BigInt(given.s)) },
  }))
  return (
    `"type":"${quantity(t.type)}","chainId":"${quantity(chainId)}",${fees}"accessList":${JSON.stringify(accessList)},` +
    (t.type === 3 ? blobs : '') +
    (t.type === 4 ? `"authorizationList":${JSON.stringify(authorized)},` : '') +
    `"yParity":"${quantity(parity)}","v":"${quantity(parity)}"`
  )
}

export function receiptText(block: SimBlock, t: PlacedTransaction, options: RenderOptions): string {
  const to = t.to === null ? 'null' : `"${t.to}"`
  const created = t.created === null ? 'null' : `"${t.created}"`
  const logs = t.logs.map((_, at) => logText(block, t, at, options))
  return (
    `{"blockHash":"${block.hash}","blockNumber":"${quantity(block.number)}","contractAddress":${created},` +
    `"cumulativeGasUsed":"${quantity(t.cumulativeGas)}","effectiveGasPrice":"${quantity(t.gasPrice)}",` +
    `"from":"${t.from}","gasUsed":"${quantity(t.gasUsed)}","logs":[${logs.join()}],` +
    `"logsBloom":"${hexOfBytes(bloomOf(t.logs))}","status":"${t.succeeded ? '0x1' : '0x0'}","to":${to},` +
    `"transactionHash":"${t.hash}","transactionIndex":"${quantity(t.index)}","type":"${quantity(t.type)}"}`
  )
}

export function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

function makeBlockText(block: SimBlock, transactions: string[]): string {
  return `${headerText(block)},"size":"0x220","uncles":[],"transactions":[${transactions.join()}]}`
}

function logText(block: SimBlock, t: PlacedTransaction, at: number, { logTimestamps }: RenderOptions): string {
  const log = t.logs[at]!
  const timestamp = logTimestamps ? `"blockTimestamp":"${quantity(block.timestamp)}",` : ''
  return (
    `{"address":"${log.address}","topics":["${log.topics.join('","')}"],"data":"${log.data}",` +
    `"blockNumber":"${quantity(block.number)}","transactionHash":"${t.hash}","transactionIndex":"${quantity(t.index)}",` +
    `"blockHash":"${block.hash}",${timestamp}"logIndex":"${quantity(t.firstLogIndex + at)}","removed":false}`
  )
}

function textsFor(block: SimBlock): BlockTexts {
  const known = textsOf.get(block)
  if (known !== undefined) return known
  const texts: BlockTexts = {}
  textsOf.set(block, texts)
  return texts
}
