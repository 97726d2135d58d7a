// How many Solana accounts one core decodes a second. Run: node bench/solana-decode.ts
import { decodeMetadata, decodeMint, decodeTokenAccount } from '../src/solana/decode.ts'

const count = 10_000

function tokenAccount(index: number): Uint8Array {
  const data = new Uint8Array(165).fill(index & 255, 0, 64)
  new DataView(data.buffer).setBigUint64(64, BigInt(index) ** 3n, true)
  data[108] = 1 + (index & 1)
  return data
}

function mint(index: number): Uint8Array {
  const data = new Uint8Array(82)
  new DataView(data.buffer).setBigUint64(36, BigInt(index) ** 3n, true)
  data[44] = index & 15
  data[45] = 1
  return data
}

function metadata(index: number): Uint8Array {
  const data = Buffer.alloc(679)
  data[0] = 4
  data.writeUInt32LE(32, 65)
  data.write(`Collectible #${index}`, 69)
  data.writeUInt32LE(10, 101)
  data.write('COLL', 105)
  data.writeUInt32LE(200, 115)
  data.write('https://example.org/metadata.json', 119)
  data.set([0, 0, 0, 1, 1, 1, 255, 1, 4, 0, 0], 319)
  return data
}

for (const [name, make, decode] of [
  ['token accounts', tokenAccount, decodeTokenAccount],
  ['mints', mint, decodeMint],
  ['metadata', metadata, decodeMetadata],
] as const) {
  const accounts = Array.from({ length: count }, (_, index) => make(index))
  if (accounts.some(account => decode(account) === undefined)) throw new Error(`${name} do not decode`)
  const rates: number[] = []
  for (let round = 0; round < 9; round++) {
    const start = performance.now()
    for (let repeat = 0; repeat < 20; repeat++) for (const account of accounts) decode(account)
    rates.push((20 * count) / ((performance.now() - start) / 1_000))
  }
  rates.sort((a, b) => a - b)
  console.log(JSON.stringify({ what: `decode ${name}`, perSecond: Math.round(rates[4] ?? 0) }))
}
