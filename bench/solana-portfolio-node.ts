// The nodes that `solana-portfolio.ts` asks, in a process of their own as nodes are: one with the real programs, and one that
// is as fast as a node can be, because it sends recorded bytes. Prints both addresses and ends with its input.
import { createServer } from 'node:http'
import { base58 } from '@scure/base'
import { listen } from '../sandbox/src/listen.ts'
import { metadataProgram, tokenProgramAddresses } from '../src/solana/decode.ts'
import { metadataAddress } from '../src/solana/pda.ts'
import { startProgramNode } from '../test/solana-program-node.ts'
import { mintData, tokenAccountData } from '../test/solana-snapshot-archive.ts'
import { address, holdings, mints, owner, pagesOfKeys } from './solana-portfolio-accounts.ts'

const described = (data: Uint8Array, program: string) => ({
  lamports: 2_039_280,
  owner: program,
  data: [Buffer.from(data).toString('base64'), 'base64'],
  executable: false,
  rentEpoch: 0,
  space: data.length,
})
const metadata = (index: number) => {
  const data = Buffer.alloc(607)
  data[0] = 4
  data.set(mints[index]!, 33)
  data.writeUInt32LE(32, 65)
  data.write(`Token number ${index}`, 69)
  data.writeUInt32LE(10, 101)
  data.write(`TKN${index}`, 105)
  return data
}
const answer = (value: unknown) =>
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { context: { slot: 10 }, value } }))
const tokens = answer(
  holdings.map(({ account, mint, amount }) => ({
    pubkey: base58.encode(account),
    account: described(tokenAccountData({ mint, owner, amount }), tokenProgramAddresses.token),
  })),
)
const known = new Map<string, unknown>()
for (const [index, mint] of mints.entries()) {
  known.set(base58.encode(mint), described(mintData({ decimals: 6, supply: 10n ** 15n }), tokenProgramAddresses.token))
  known.set(base58.encode(metadataAddress(mint)), described(metadata(index), metadataProgram))
}
const pages = new Map(pagesOfKeys.map(page => [page[0]!, answer(page.map(key => known.get(key)))]))
const none = answer([])
pages.set(address, answer([null]))
const recorded = createServer(async (incoming, outgoing) => {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const { method, params } = JSON.parse(Buffer.concat(chunks).toString())
  if (method === 'getMultipleAccounts') outgoing.end(pages.get(params[0][0]))
  else outgoing.end(params[1].programId === tokenProgramAddresses.token ? tokens : none)
})

const real = await startProgramNode()
for (const [index, mint] of mints.entries()) {
  const put = (key: Uint8Array, data: Uint8Array, program: string) =>
    real.setAccount(base58.encode(key), { lamports: 2_039_280, data, program })
  await put(mint, mintData({ decimals: 6, supply: 10n ** 15n }), tokenProgramAddresses.token)
  await put(metadataAddress(mint), metadata(index), metadataProgram)
  const { account, amount } = holdings[index]!
  await put(account, tokenAccountData({ mint, owner, amount }), tokenProgramAddresses.token)
}

process.stdout.write(`${JSON.stringify({ recorded: await listen(recorded), real: real.rpcUrl })}\n`)
process.stdin.resume().on('end', () => process.exit(0))
