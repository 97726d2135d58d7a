// The table that the Squid fills. The file's place and name are what the Squid SDK looks for.
import { EntitySchema } from 'typeorm'

export class Transfer {
  constructor(row) {
    Object.assign(this, row)
  }
}

const big = { type: 'numeric', transformer: { to: value => value.toString(), from: BigInt } }

export const transferSchema = new EntitySchema({
  name: 'transfer',
  target: Transfer,
  columns: {
    id: { type: 'text', primary: true },
    contract: { type: 'text' },
    standard: { type: 'text' },
    tokenId: big,
    amount: big,
    from: { type: 'text' },
    to: { type: 'text' },
    operator: { type: 'text', nullable: true },
    value: big,
    block: { type: 'int4' },
    blockHash: { type: 'text' },
    timestamp: { type: 'timestamptz' },
    transactionHash: { type: 'text' },
    transactionIndex: { type: 'int4' },
    logIndex: { type: 'int4' },
    batchIndex: { type: 'int4' },
  },
  indices: [{ columns: ['contract', 'block'] }],
})
