// What the indexing thread does: it indexes EVM chains, so parsing and writing never delay an answer. It opens its own
// connection to the store, as the owner, and takes calls from the thread that serves. It may be ended at any moment.
import { type Chain, ChainTable } from '../../chains.ts'
import { createEvm, type EvmChainSettings, type EvmOptions } from '../../evm/create-evm.ts'
import { createLog, type LogOptions } from '../../log.ts'
import { openStore } from '../../store/open.ts'
import { StoreRoom } from '../../store/room.ts'
import { yieldToServing } from '../../threads.ts'

export type IndexThreadData = {
  store: string
  storeBytesMax?: number | undefined
  settings: Record<string, EvmChainSettings>
  addedChains: Chain[]
  pageSizeMax: number
  retention?: EvmOptions['retention']
  goneKeptMs?: number
  log: Pick<LogOptions, 'level' | 'format' | 'colours'>
}

export type IndexThread = Awaited<ReturnType<typeof startThread>>

export async function startThread(data: IndexThreadData) {
  yieldToServing()
  const { settings, pageSizeMax, retention, goneKeptMs } = data
  const store = await openStore(data.store, { role: 'owner', ...(goneKeptMs === undefined ? {} : { goneKeptMs }) })
  const log = createLog({ ...data.log, hidden: [process.env.ALMANAC_KEY ?? ''] })
  const room = await new StoreRoom({ store, bytesMax: data.storeBytesMax, log }).start()
  const chains = new ChainTable(data.addedChains)
  const evm = createEvm({ settings, pageSizeMax, retention, chains, store, room, log })
  return {
    ...evm,
    async close() {
      await evm.close()
      await room.close()
      await store.close()
    },
  }
}
