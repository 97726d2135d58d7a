// The commands and settings of the guide to whole chains, run as they stand there: a simulated chain stands for
// Ethereum, with a pruned node and files for what the node has dropped.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { compileCache } from './bundled-service.ts'
import { chainsOf, cleanups, place, placeEachTest } from './chain-commands.ts'
import { exportChain } from './sim/export-files.ts'
import { startSimNode } from './sim/node.ts'

placeEachTest()

const guide = readFileSync(new URL('../docs/guides/a-whole-chain.md', import.meta.url), 'utf8')
const blocksOf = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => text!)
/** What fetches files, and what runs beside a service, is known to doc-blocks.test.ts. */
const commands = blocksOf('sh').filter(text => /^almanac (history|config)/.test(text))
const settings = blocksOf('yaml')

const file = () => join(place.directory, 'almanac.yaml')

test('files are checked, planned and indexed by the commands of the guide', { timeout: 120_000 }, async () => {
  const chain = {
    chainId: 1,
    height: 180,
    finalityDepth: 20,
    hashes: 'real',
    signed: true,
    transactionsPerBlock: 2,
    logsPerCall: 2,
  } as const
  const node = await startSimNode({
    chain,
    endpoints: [{ faults: [{ kind: 'pruned', below: 100, answer: 'geth' }] }],
  })
  cleanups.push(() => node.close())
  const history = join(place.directory, 'ethereum')
  exportChain(node.chain, { from: 1, to: 119 }, { folder: history, format: 'ere', network: 'mainnet' })
  const example = settings[0]!.replace('http://127.0.0.1:8545', node.url).replace('/srv/ethereum', history)
  expect(example).toContain(history)
  writeFileSync(file(), example)
  const path = `${place.install()}:${process.env.PATH}`
  const env = { PATH: path, NODE_COMPILE_CACHE: compileCache, HISTORY: history }
  const run = async (command: string) =>
    (await promisify(execFile)('sh', ['-euc', command], { cwd: place.directory, env })).stdout
  expect(commands).toHaveLength(2)
  const [checked, planned] = [await run(commands[0]!), await run(commands[1]!)]
  expect(checked).toContain('every file can be used')
  expect(planned).toContain(`\neth: blocks 1 to 119 (119 in all) come from files (${history}).\n`)
  expect(planned).toMatch(/\neth: blocks 120 to 1\d\d \(\d+ in all\) come from nodes\.\n/)
  expect(planned).toContain('\neth: no source has blocks 0 (one in all): they stay missing.\n')
  const service = place.begin(['start', '--listen', '127.0.0.1:0'], { ALMANAC_OPS_OPEN: 'true' })
  const isFilled = async () => {
    const { eth } = (await chainsOf(service)) as unknown as Record<
      string,
      { covered: { from: number; evidence: string }[] }
    >
    return eth?.covered.some(({ from, evidence }) => from === 1 && evidence === 'receipts-root') === true
  }
  await service.until(isFilled, 'history from files')
})

test('every other example of settings is valid', async () => {
  const [first, ...others] = settings
  expect(others).toHaveLength(3)
  writeFileSync(join(place.directory, 'historical_roots.ssz'), Buffer.alloc(32))
  for (const text of others) {
    writeFileSync(file(), text.startsWith('chains:') ? text : `${first}${text}`)
    expect(await place.runHere(['config', 'check'])).toMatchObject({ code: 0 })
  }
})
