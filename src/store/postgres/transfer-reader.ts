// Reading transfers of contracts that have a number; any other has none.
import { emptyPage, type TransferReader } from '../transfer-store.ts'
import type { StoreDatabase } from './store-database.ts'
import { transferCount, transferPage } from './transfer-pages.ts'

export function transferReader(store: StoreDatabase): TransferReader {
  const { database } = store
  return {
    transferPage: query => store.ofContract(query, emptyPage, number => transferPage(database, number, query)),
    transferCount: range => store.ofContract(range, 0, number => transferCount(database, number, range)),
  }
}
