// Makes snapshot archives as validators do: append vectors in a tar, compressed with zstd.
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'
import { base58 } from '@scure/base'
import { systemProgram } from '../src/solana/decode.ts'

export type SnapshotAccount = {
  key: Uint8Array
  lamports: bigint
  program: Uint8Array
  data: Uint8Array
  writeVersion?: bigint
}

export const systemKey = base58.decode(systemProgram)

export function appendVector(accounts: Iterable<SnapshotAccount>, unusedBytes = 0): Buffer {
  const parts: Buffer[] = []
  for (const { key, lamports, program, data, writeVersion = 0n } of accounts) {
    const record = Buffer.alloc((136 + data.length + 7) & ~7)
    record.writeBigUInt64LE(writeVersion, 0)
    record.writeBigUInt64LE(BigInt(data.length), 8)
    record.set(key, 16)
    record.writeBigUInt64LE(lamports, 48)
    record.set(program, 64)
    record.set(data, 136)
    parts.push(record)
  }
  return Buffer.concat([...parts, Buffer.alloc(unusedBytes)])
}

export function tokenAccountData(fields: {
  mint: Uint8Array
  owner: Uint8Array
  amount: bigint
  frozen?: boolean
}): Uint8Array {
  const data = Buffer.alloc(165)
  data.set(fields.mint, 0)
  data.set(fields.owner, 32)
  data.writeBigUInt64LE(fields.amount, 64)
  data[108] = fields.frozen ? 2 : 1
  return data
}

export function mintData({ decimals, supply }: { decimals: number; supply: bigint }): Uint8Array {
  const data = Buffer.alloc(82)
  data.writeBigUInt64LE(supply, 36)
  data[44] = decimals
  data[45] = 1
  return data
}

export type ArchiveFile = { name: string; content: Buffer }

export async function writeArchive(
  path: string,
  files: Iterable<ArchiveFile> | AsyncIterable<ArchiveFile>,
): Promise<void> {
  async function* tar() {
    for await (const { name, content } of files) {
      yield tarHeader(name, content.length)
      yield content
      yield Buffer.alloc((512 - (content.length % 512)) % 512)
    }
    yield Buffer.alloc(1_024)
  }
  await pipeline(
    Readable.from(tar(), { objectMode: false }),
    createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
    createWriteStream(path),
  )
}

function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(512)
  header.write(name, 0)
  header.write('0000644\0', 100)
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  header.write('00000000000\0', 136)
  header.write('        ', 148)
  header.write('0', 156)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
