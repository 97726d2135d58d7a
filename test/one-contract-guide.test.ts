// The guide to one contract, followed from top to bottom on a simulated chain: every command and both ways to configure.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { compileCache } from './bundled-service.ts'
import { cleanups, place, placeEachTest } from './chain-commands.ts'
import { blocksOf, commandsOf } from './doc-blocks.ts'
import { truthByContract } from './evm-harness.ts'
import { startSimNode } from './sim/node.ts'
import { lightBlocks } from './sim/options.ts'

placeEachTest()

const named = '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d'
const blocks = blocksOf('docs/guides/one-contract.md')
const [path, init, plan, start, ask, look, ...others] = blocks.filter(({ language }) => language === 'sh')
const [settings] = blocks.filter(({ language }) => language === 'yaml')

test('one contract is configured, planned, indexed and known to be complete by the commands of the guide', {
  timeout: 120_000,
}, async () => {
  expect(others).toEqual([])
  // `place` puts it there.
  expect(commandsOf(path!.text)).toEqual(['export PATH="$PWD/node_modules/.bin:$PATH"'])
  const node = await startSimNode({ chain: { chainId: 1, height: 200, hashes: 'real', ...lightBlocks } })
  cleanups.push(() => node.close())
  const [contract, transfers] = [...truthByContract(node.chain, { from: 1, to: node.chain.finalized })][0]!
  const here = (text: string) => text.replaceAll(named, contract).replaceAll('http://127.0.0.1:8545', node.url)
  const env = { PATH: `${place.install()}:${process.env.PATH}`, NODE_COMPILE_CACHE: compileCache }
  const run = async (command: string) =>
    (await promisify(execFile)('sh', ['-euc', here(command)], { cwd: place.directory, env })).stdout

  await run(init!.text)
  const [checked, planned] = (await Promise.all(commandsOf(plan!.text).map(run))) as [string, string]
  expect(checked).toMatch(/eth +on-demand, .*, 1 contract$/m)
  expect(planned).toMatch(/^Estimate: indexing eth takes about .* calls\.\n\nCHAIN/)
  expect(planned).toMatch(/^Sampling took .*\nAssumed: /m)
  expect(planned).toMatch(new RegExp(`^eth +${contract} +\\d`, 'm'))

  // The file that the guide shows says the same as the one that `init` wrote.
  const effective = () => run('almanac config check --all')
  const written = await effective()
  writeFileSync(join(place.directory, 'almanac.yaml'), here(settings!.text))
  expect(parse(settings!.text).chains.eth.contracts).toEqual([named])
  expect(await effective()).toBe(written)

  const [exported, begin] = commandsOf(start!.text) as [string, string]
  expect(begin).toBe('almanac start')
  const key = exported.split('=')[1]!
  const service = place.begin(['start', '--listen', '127.0.0.1:0'], { ALMANAC_KEY: key })
  const url = await service.listening()
  const answer = () => run(ask!.text.replace('http://127.0.0.1:8080', url))
  await vi.waitFor(async () => expect(await answer()).toMatch(/^x-index-complete: true\r$/im), 30_000)
  expect(await answer()).toMatch(/^x-index-evidence: one-endpoint\r$/im)

  const [status, explain] = commandsOf(look!.text) as [string, string]
  const asked = await run(`export ALMANAC_URL=${url}
${exported}
${status}`)
  expect(asked).toMatch(/^eth +live .* 1 contract /m)
  const explained = await run(explain)
  expect(explained).toMatch(/^ {2}blocks 0 to \d+ are covered: one-endpoint$/m)
  expect(Number(/^index +(\d+) transfers?;/m.exec(explained)![1])).toBeGreaterThanOrEqual(transfers.length)
})
