// The code that the console shows for a request runs with the real SDK, and gets the same answer.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sdkText, type Values } from '../../web/src/explorer/request-text.ts'
import { seeded } from '../seed.ts'
import { startWorld, type World } from './world.ts'

let world: World
let folder: string
beforeAll(async () => {
  world = await startWorld()
  // Beside the SDK, so that it is found.
  folder = await mkdtemp(fileURLToPath(new URL('.code-', import.meta.url)))
})
afterAll(async () => {
  await world?.stop()
  await rm(folder, { recursive: true, force: true })
})

test.each<[id: string, Values, string]>([
  [
    'getNFTContractTransfersV22',
    { address: seeded.deeds, chain: 'polygon', limit: '3', from_date: '2020-09-13', order: 'ASC', from_block: '700' },
    `/api/v2.2/nft/${seeded.deeds}/transfers?chain=polygon&limit=3&from_date=2020-09-13&order=ASC&from_block=700`,
  ],
  [
    'getWalletActiveChainsV22',
    { address: seeded.alice, chains: 'polygon,eth' },
    `/api/v2.2/wallets/${seeded.alice}/chains?chains=polygon,eth`,
  ],
  [
    'getPortfolio',
    { network: 'mainnet', address: seeded.solanaOwner },
    `/account/mainnet/${seeded.solanaOwner}/portfolio`,
  ],
])('%s', async (id, values, target) => {
  const hexIdOf = (chain: string) => ({ polygon: '0x89', eth: '0x1' })[chain] ?? chain
  const code = sdkText({ id, values, origin: world.url, hexIdOf })!
  const file = join(folder, `${id}.mjs`)
  await writeFile(
    file,
    code
      .replace("'moralis'", "'moralis-2.27'")
      .replace('console.log(answer.raw)', 'console.log(JSON.stringify(answer.raw))'),
  )
  const env = { PATH: process.env.PATH, ALMANAC_KEY: world.keys.full }
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
  const answer = await fetch(world.url + target, { headers: { 'x-api-key': world.keys.full } })
  const { cursor: _, ...expected } = (await answer.json()) as { cursor?: unknown }
  expect(Object.keys(expected).length).toBeGreaterThan(1)
  expect(JSON.parse(stdout)).toMatchObject(expected)
})
