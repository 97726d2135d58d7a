// The table that Ponder fills.
import { index, onchainTable } from 'ponder'

export const transfer = onchainTable(
  'transfer',
  t => ({
    id: t.text().primaryKey(),
    contract: t.hex().notNull(),
    standard: t.text().notNull(),
    tokenId: t.bigint().notNull(),
    amount: t.bigint().notNull(),
    from: t.hex().notNull(),
    to: t.hex().notNull(),
    operator: t.hex(),
    value: t.bigint().notNull(),
    block: t.integer().notNull(),
    blockHash: t.hex().notNull(),
    timestamp: t.bigint().notNull(),
    transactionHash: t.hex().notNull(),
    transactionIndex: t.integer().notNull(),
    logIndex: t.integer().notNull(),
    batchIndex: t.integer().notNull(),
  }),
  table => ({ byContract: index().on(table.contract, table.block) }),
)
