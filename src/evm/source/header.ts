// From a node's header to ours.
import type { Hash } from '../../model.ts'
import type { RpcHeader } from '../rpc/types.ts'
import type { Header } from './chain-source.ts'

/** A header that passed `checkHeaders`. */
export function headerOf(header: RpcHeader): Header {
  return {
    number: Number(header.number),
    hash: String(header.hash).toLowerCase() as Hash,
    parentHash: header.parentHash.toLowerCase() as Hash,
    timestamp: Number(header.timestamp),
  }
}
