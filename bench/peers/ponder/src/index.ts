// One row for each movement of an NFT, inserted through the store interface that Ponder recommends.
import { ponder } from 'ponder:registry'
import { transfer } from 'ponder:schema'

ponder.on('Nft:Transfer', async ({ event, context }) => {
  const { from, to, tokenId } = event.args
  await context.db.insert(transfer).values({ ...place(event, 0), standard: 'ERC721', from, to, tokenId, amount: 1n })
})

ponder.on('Nft:TransferSingle', async ({ event, context }) => {
  const { operator, from, to, id: tokenId, value: amount } = event.args
  const movement = { standard: 'ERC1155', operator, from, to, tokenId, amount }
  await context.db.insert(transfer).values({ ...place(event, 0), ...movement })
})

ponder.on('Nft:TransferBatch', async ({ event, context }) => {
  const { operator, from, to, ids, values } = event.args
  if (ids.length === 0 || ids.length !== values.length) return
  const parties = { standard: 'ERC1155', operator, from, to }
  await context.db
    .insert(transfer)
    .values(ids.map((tokenId, at) => ({ ...place(event, at), ...parties, tokenId, amount: values[at]! })))
})

type LogEvent = {
  id: string
  log: { address: `0x${string}`; logIndex: number }
  block: { number: bigint; hash: `0x${string}`; timestamp: bigint }
  transaction: { hash: `0x${string}`; transactionIndex: number; value: bigint }
}

function place({ id, log, block, transaction }: LogEvent, batchIndex: number) {
  return {
    id: `${id}-${batchIndex}`,
    contract: log.address,
    value: transaction.value,
    block: Number(block.number),
    blockHash: block.hash,
    timestamp: block.timestamp,
    transactionHash: transaction.hash,
    transactionIndex: transaction.transactionIndex,
    logIndex: log.logIndex,
    batchIndex,
  }
}
