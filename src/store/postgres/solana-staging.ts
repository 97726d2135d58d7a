// Bulk imports of a whole Solana network: rows go into the tables as they come. Beside them the keys of the archive are
// kept in a table of their own until the end, so that a full snapshot can remove what it lacks.
import type { SolanaNetwork } from '../../model.ts'
import { networkNumber, type SolanaStaging } from '../solana-store.ts'
import type { Store } from '../store.ts'
import { arrayOf } from './arrays.ts'
import type { StoreDatabase } from './store-database.ts'

/** By the first byte of the owner: each part ends long before the server's limit for one statement. */
const removedInParts = 256

export type StagingTables = Pick<Store, 'updateAccounts' | 'checkpoint' | 'putCheckpoint'>

export function solanaStaging(tables: StagingTables, store: StoreDatabase, network: SolanaNetwork): SolanaStaging {
  const name = `solana.${network}.import`
  const keys = `solana_import_${network}`
  const hasKeys = async (): Promise<boolean> => {
    const [[table] = []] = await store.database.read('SELECT to_regclass($1)::text', keys)
    return table !== null
  }
  // Not unlogged: a crash of the server would empty it, and what it held would be removed.
  const createKeys = () =>
    store.createBeside('solana_holdings', {
      name: keys,
      columns: 'owner bytea NOT NULL, account bytea NOT NULL, PRIMARY KEY (owner, account)',
      column: 'owner',
    })
  const discard = async (): Promise<void> => {
    // The checkpoint first: with it and without the keys, a later import would go on from nothing.
    await tables.putCheckpoint(name, '')
    await store.writingUnseen(transaction => transaction.script(`DROP TABLE IF EXISTS ${keys}`))
  }
  return {
    checkpoint: async () => ((await hasKeys()) && (await tables.checkpoint(name))) || undefined,
    async commit({ holdings, mints }, checkpoint) {
      if (!(await hasKeys())) await createKeys()
      const held = holdings.flatMap(holding => ('closed' in holding ? [] : [holding]))
      if (held.length > 0)
        await store.writingUnseen(transaction =>
          transaction.run(
            `INSERT INTO ${keys} SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT DO NOTHING`,
            arrayOf.bytes(held.map(({ owner }) => owner)),
            arrayOf.bytes(held.map(({ account }) => account)),
          ),
        )
      await tables.updateAccounts(network, { mints, holdings })
      await tables.putCheckpoint(name, checkpoint)
    },
    async merge({ slot, whole }) {
      const remove = `DELETE FROM solana_holdings AS held
        WHERE held.network = $1 AND held.slot <= $2 AND held.owner >= $3 AND held.owner < $4
          AND NOT EXISTS (SELECT 1 FROM ${keys} AS listed WHERE listed.owner = held.owner AND listed.account = held.account)`
      for (let part = 0; whole && part < removedInParts; part++) {
        const last = part === removedInParts - 1
        const bounds = [Buffer.of(part), last ? Buffer.alloc(33, 255) : Buffer.of(part + 1)] as const
        await store.writingSpread(transaction => transaction.run(remove, networkNumber(network), slot, ...bounds))
      }
      await discard()
    },
    discard,
    async close() {},
  }
}
