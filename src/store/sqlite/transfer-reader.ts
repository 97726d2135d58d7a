// Reading transfers of contracts that have a number; any other has none.
import { emptyPage, type TransferReader } from '../transfer-store.ts'
import type { StoreFile } from './store-file.ts'
import { transferCount, transferPage } from './transfer-pages.ts'

export function transferReader(file: StoreFile): TransferReader {
  return {
    transferPage: async query =>
      file.ofContract(query, emptyPage, (read, ordinal, number) => transferPage(read, ordinal, number, query)),
    transferCount: async range =>
      file.ofContract(range, 0, (read, _ordinal, number) => transferCount(read, number, range)),
  }
}
