// The thread that indexes EVM chains, so parsing and writing never delay an answer. It opens its own connection to the
// store, as the owner, and takes calls from the thread that serves.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type Chain, ChainTable } from '../../chains.ts'
import { type PlainError, toPlain } from '../../errors.ts'
import type { EvmChainSettings } from '../../evm/create-evm.ts'
import { createEvm } from '../../evm/create-evm.ts'
import { createLog, type LogOptions } from '../../log.ts'
import { openStore } from '../../store/open.ts'
import { serveThread, yieldToServing } from '../../threads.ts'

export type IndexThreadData = {
  store: string
  settings: Record<string, EvmChainSettings>
  addedChains: Chain[]
  pageSizeMax: number
  log: Pick<LogOptions, 'level' | 'format' | 'colours'>
}

/** What the thread posts once, before it answers calls. */
export type IndexThreadStart = 'ready' | { failed: PlainError }

if (parentPort === null) throw new Error('This file is a thread of almanac start.')
yieldToServing()
try {
  await startIndexing(parentPort, workerData as IndexThreadData)
  parentPort.postMessage('ready' satisfies IndexThreadStart)
} catch (error) {
  // An error that leaves the thread by itself loses its class and most of its fields.
  parentPort.postMessage({ failed: toPlain(error) } satisfies IndexThreadStart)
}

async function startIndexing(port: MessagePort, data: IndexThreadData): Promise<void> {
  const { settings, pageSizeMax } = data
  const store = await openStore(data.store, { role: 'owner' })
  const log = createLog({ ...data.log, hidden: [process.env.ALMANAC_KEY ?? ''] })
  const evm = createEvm({ settings, pageSizeMax, chains: new ChainTable(data.addedChains), store, log })
  serveThread(port, {
    ...evm,
    async close() {
      await evm.close()
      await store.close()
    },
  })
}
