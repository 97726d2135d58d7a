// The guide to development chains, followed from top to bottom on a real node, which is reverted and then replaced by
// a new chain of the same id.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fromCreate } from 'ox/ContractAddress'
import type { Hex } from 'ox/Hex'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadCollections } from '../sandbox/src/collections.ts'
import { developmentAccount } from '../sandbox/src/evm-accounts.ts'
import { type EvmNode, startEvmNode } from '../sandbox/src/evm-node.ts'
import { deployment, signed } from '../sandbox/src/evm-transactions.ts'
import { type Relay, startRelay } from '../sandbox/src/relay.ts'
import { CommandPlace, CommandRun } from './command-run.ts'
import { blocksOf, commandsOf } from './doc-blocks.ts'

const [settings, started, sample, asked, reset, addresses, ...others] = blocksOf('docs/guides/development-chain.md')
const ownNode = 'http://127.0.0.1:8545'
const patience = { timeout: 60_000, interval: 200 }
const owner = developmentAccount(0)

let place: CommandPlace
let relay: Relay
let node: EvmNode
const runs: CommandRun[] = []
beforeEach(async () => {
  place = new CommandPlace()
  relay = await startRelay()
})
afterEach(async () => {
  for (const run of runs.splice(0)) await run.kill()
  await place.dispose()
  await relay.close()
  await node?.stop()
})

/** A contract of the user, with some tokens. */
async function deploy(tokens: number): Promise<string> {
  const genesisTimestamp = Math.floor(Date.now() / 1_000) - 1_000 - tokens
  node = await startEvmNode({ chainId: 31_337, genesisTimestamp })
  const { Collection721 } = await loadCollections()
  const { data, contract } = deployment(Collection721, { from: owner, nonce: 0, args: ['Mine', 'MINE'] })
  await node.mine(await signed(node, [{ from: owner, data }]), genesisTimestamp + 2)
  for (let id = 1; id <= tokens; id++) {
    const mint = { from: owner, ...contract.call('mint', owner.address, BigInt(id)) }
    await node.mine(await signed(node, [mint]), genesisTimestamp + 2 + 2 * id)
  }
  relay.passTo(node.url)
  return contract.address
}

test('a contract of your own answers, also after a revert and a reset', async () => {
  expect(settings!.language).toBe('yaml')
  for (const block of [started, sample, asked, reset, addresses]) expect(block!.language).toBe('sh')
  expect(others).toEqual([])
  const address = await deploy(3)
  writeFileSync(
    join(place.directory, 'almanac.yaml'),
    settings!.text.replace(ownNode, `http://127.0.0.1:${relay.port}`),
  )
  const path = `${place.install()}:${process.env.PATH}`
  const [exported, start] = commandsOf(started!.text) as [string, string]
  const begin = (command: string) => {
    const line = `${exported}\nexec ${command}`
    const run = new CommandRun(['sh', '-euc', line], place.directory, { PATH: path, ALMANAC_LISTEN: '127.0.0.1:0' })
    runs.push(run)
    return run
  }
  let service = begin(start)
  const ask = async (contract = address) => {
    const url = await service.listening()
    const lines = commandsOf(asked!.text).map(line => line.replace('http://127.0.0.1:8080', url))
    const answers = lines.map(line =>
      promisify(execFile)('sh', ['-euc', `${exported}\n${line}`], { env: { PATH: path, CONTRACT: contract } }),
    )
    const [transfers, owners] = (await Promise.all(answers)).map(({ stdout }) => JSON.parse(stdout))
    return { complete: transfers.index_complete, transfers: transfers.result?.length, owners: owners.result?.length }
  }
  await expect.poll(() => ask(), patience).toEqual({ complete: true, transfers: 3, owners: 3 })
  // The contract of the page. Nodes of users sign for its sender; this one does not.
  const [, data] = /"data":"(0x\w+)"/.exec(sample!.text) as unknown as [string, Hex]
  expect(sample!.text).toContain(`"from":"${owner.address.toLowerCase()}"`)
  expect(sample!.text).toContain(`CONTRACT=${address} `)
  const nonce = BigInt((await node.ask('eth_getTransactionCount', owner.address, 'latest')) as string)
  await node.mine(await signed(node, [{ from: owner, data }]), Math.floor(Date.now() / 1_000) - 600)
  const minted = fromCreate({ from: owner.address, nonce })
  await expect.poll(() => ask(minted), patience).toEqual({ complete: true, transfers: 1, owners: 1 })
  const [look] = commandsOf(addresses!.text) as [string]
  const looked = look
    .replace('http://127.0.0.1:8080', await service.listening())
    .replace("'X-API-Key: sandbox'", '"X-API-Key: $ALMANAC_KEY"')
  const { stdout: shown } = await promisify(execFile)('sh', ['-euc', `${exported}\n${looked}`], { env: { PATH: path } })
  expect(shown).toBe(`"endpoint":"127.0.0.1:${relay.port}"\n`)

  const snapshot = await node.ask('evm_snapshot')
  const { Collection721 } = await loadCollections()
  const { contract } = deployment(Collection721, { from: owner, nonce: 0, args: ['Mine', 'MINE'] })
  const more = { from: owner, ...contract.call('mint', owner.address, 4n) }
  await node.mine(await signed(node, [more]), Math.floor(Date.now() / 1_000) - 500)
  await expect.poll(() => ask(), patience).toEqual({ complete: true, transfers: 4, owners: 4 })
  expect(await node.ask('evm_revert', snapshot)).toBe(true)
  await node.mineEmpty([Math.floor(Date.now() / 1_000) - 400, Math.floor(Date.now() / 1_000) - 300])
  await expect.poll(() => ask(), patience).toEqual({ complete: true, transfers: 3, owners: 3 })

  // A new chain from block 0; the contract has the same address there.
  await node.stop()
  expect(await deploy(8)).toBe(address)
  await expect.poll(() => ask(), patience).toEqual({ complete: true, transfers: 8, owners: 8 })
  service.child.kill('SIGTERM')
  await service.ended()
  const [forget, again] = commandsOf(reset!.text) as [string, string]
  expect(await begin(forget).ended()).toMatchObject({ code: 0 })
  service = begin(again)
  await expect.poll(() => ask(), patience).toEqual({ complete: true, transfers: 8, owners: 8 })
})
