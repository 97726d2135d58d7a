// Waits for transfers of a collection and prints each of them once. A reorg can replace the newest blocks, so the bot asks for the last blocks
// again each time, and says which transfers it takes back.
//
//   node examples/transfer-bot.ts [contract] [chain]
import { setTimeout as sleep } from 'node:timers/promises'

const url = process.env.ALMANAC_URL ?? 'http://127.0.0.1:8080'
const key = process.env.ALMANAC_KEY ?? 'sandbox'
const [contract = '0x8464135c8f25da09e49bc8782676a84730c318bc', chain = 'eth'] = process.argv.slice(2)

/** Deeper blocks than this are taken for final. */
const depth = 64
const everyMs = 2_000

type Transfer = {
  block_number: string
  block_hash: string
  log_index: number
  token_id: string
  from_address: string
  to_address: string
}
type Page = { result: Transfer[]; cursor: string | null }

async function pageOf(parameters: Record<string, string>): Promise<Page> {
  const query = new URLSearchParams({ chain, ...parameters })
  const response = await fetch(`${url}/api/v2.2/nft/${contract}/transfers?${query}`, { headers: { 'x-api-key': key } })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  return (await response.json()) as Page
}

/** Every transfer from a block on, oldest first. */
async function transfersFrom(block: number): Promise<Map<string, Transfer>> {
  const found = new Map<string, Transfer>()
  let cursor = ''
  do {
    const page = await pageOf({ from_block: `${block}`, order: 'ASC', ...(cursor === '' ? {} : { cursor }) })
    // The block's hash is in the identity: the same transfer in another block is another event.
    for (const row of page.result) found.set(`${row.block_hash} ${row.log_index} ${row.token_id}`, row)
    cursor = page.cursor ?? ''
  } while (cursor !== '')
  return found
}

function text({ block_number, token_id, from_address, to_address }: Transfer): string {
  return `#${token_id}  ${from_address} → ${to_address}  block ${block_number}`
}

const newest = (await pageOf({ limit: '1' })).result[0]
let from = newest === undefined ? 0 : Math.max(0, Number(newest.block_number) - depth)
let known = await transfersFrom(from)
console.log(`Waiting for transfers of ${contract} on ${chain}.`)

for (;;) {
  await sleep(everyMs)
  let now: Map<string, Transfer>
  try {
    now = await transfersFrom(from)
  } catch (error) {
    // A service that restarts is asked again.
    console.error(`Asking again: ${(error as Error).message}`)
    continue
  }
  for (const [identity, row] of known) if (!now.has(identity)) console.log(`taken back  ${text(row)}`)
  for (const [identity, row] of now) if (!known.has(identity)) console.log(`transfer    ${text(row)}`)
  const last = [...now.values()].at(-1)
  if (last !== undefined) from = Math.max(from, Number(last.block_number) - depth)
  known = new Map([...now].filter(([, row]) => Number(row.block_number) >= from))
}
