// Stores every NFT transfer of a range with the Squid SDK as its documentation sets it up, tells its parent when it starts, and ends.
import { EvmBatchProcessor } from '@subsquid/evm-processor'
import { TypeormDatabase } from '@subsquid/typeorm-store'
import { movementsOf, topics } from './decode.js'
import { Transfer } from './model.js'

const { url, contract, to } = JSON.parse(process.argv[2])

const processor = new EvmBatchProcessor()
  .setRpcEndpoint({ url })
  .setFinalityConfirmation(10)
  .setBlockRange({ from: 0, to })
  .addLog({
    topic0: Object.values(topics),
    transaction: true,
    ...(contract === undefined ? {} : { address: [contract] }),
  })
  .setFields({
    block: { timestamp: true },
    log: { address: true, topics: true, data: true, transactionHash: true },
    transaction: { value: true },
  })

process.send?.({ started: true })
// An open channel would keep the process alive after the range is done.
process.disconnect?.()
processor.run(new TypeormDatabase({ supportHotBlocks: false }), async ({ blocks, store }) => {
  const transfers = []
  for (const { header, logs } of blocks) {
    for (const log of logs) {
      for (const [batchIndex, movement] of movementsOf(log).entries()) {
        transfers.push(
          new Transfer({
            ...movement,
            id: `${log.id}-${batchIndex}`,
            contract: log.address,
            value: log.transaction.value,
            block: header.height,
            blockHash: header.hash,
            timestamp: new Date(header.timestamp),
            transactionHash: log.transactionHash,
            transactionIndex: log.transactionIndex,
            logIndex: log.logIndex,
            batchIndex,
          }),
        )
      }
    }
  }
  await store.insert(transfers)
})
