// The README and the guide to first calls tell the truth: every command in them is run, or is named here with what runs it instead.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { almanacMain } from './bundled-service.ts'
import { Checkout } from './checkout.ts'
import { CommandRun } from './command-run.ts'
import { callBlocks, firstCalls, readme, shellBlocks } from './readme-blocks.ts'
import { type SimNode, startSimNode } from './sim/node.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const ownNode = 'http://127.0.0.1:8545'

/** By the first line of a block: why it is not run in this file. */
const runElsewhere: Readonly<Record<string, string>> = {
  'npm ci': 'npm ci has installed what runs this test, and sandbox.test.ts runs npm start',
  'npm run pack:release':
    'release/package.test.ts runs the packages as they are published, and npm run release:rehearse installs them',
  'docker build --target sandbox -t almanac:sandbox .':
    'release/package.test.ts builds from the files that the image is made of',
  'npm ci && npm test': 'this is a part of it; continuous integration runs this very line',
}

let checkout: Checkout
let node: SimNode
const runs: CommandRun[] = []

beforeAll(async () => {
  checkout = new Checkout()
  // Loading the sources again for each line takes longer than the line does. sandbox.test.ts runs them as they are.
  mkdirSync(join(checkout.directory, 'programs'))
  const program = `#!/bin/sh\nexec '${process.execPath}' '${almanacMain}' "$@"\n`
  writeFileSync(join(checkout.directory, 'programs/almanac'), program, { mode: 0o755 })
  node = await startSimNode({ chain: { chainId: 1, height: 300, hashes: 'real' } })
})
afterAll(async () => {
  for (const run of runs) {
    // npm passes the signal on; killed, it would leave the service behind.
    run.child.kill('SIGTERM')
    await run.ended()
  }
  checkout?.remove()
  await node?.close()
})

/** A line as a shell runs it, in the checkout, with the node and the port that this test has. */
function begin(line: string): CommandRun {
  const environment = {
    ALMANAC_LISTEN: '127.0.0.1:0',
    ALMANAC_OPS_OPEN: 'true',
    HOME: process.env.HOME ?? '',
    PATH: `${join(checkout.directory, 'programs')}:${process.env.PATH}`,
    ...address,
  }
  const run = new CommandRun(
    ['sh', '-euc', `${exported}exec ${line.replaceAll(ownNode, node.url)}`],
    checkout.directory,
    environment,
  )
  runs.push(run)
  return run
}
let address: Record<string, string> = {}
/** What the lines before have set in the same shell. */
let exported = ''

describe('the commands of the README', { timeout: 180_000 }, () => {
  test('are all known to a test', () => {
    const blocks = shellBlocks.map(({ lines }) => lines[0]!)
    expect(`${readme}${firstCalls}`.match(/```sh/g)).toHaveLength(shellBlocks.length)
    for (const first of Object.keys(runElsewhere)) expect(blocks).toContain(first)
    const ours = blocks.filter(first => runElsewhere[first] === undefined && !first.startsWith('curl '))
    expect(ours).toHaveLength(2)
    // Those are asked of the sandbox, by sandbox.test.ts.
    const answered = callBlocks.map(({ answer }) => answer !== undefined)
    expect(answered).toEqual([...Array.from({ length: 8 }, () => true), false])
  })

  test('its own chains and its operations run as they stand there', async () => {
    const blocks = shellBlocks.filter(
      ({ lines: [first] }) => runElsewhere[first!] === undefined && !first!.startsWith('curl '),
    )
    const lines = blocks.flatMap(block => block.lines)
    expect(lines).toContain('almanac start')
    for (const line of lines) {
      if (line.startsWith('export ')) {
        exported += `${line}\n`
        continue
      }
      if (line === 'almanac start') {
        const service = begin(line)
        address = { ALMANAC_URL: await service.listening() }
        expect(service.stderr).not.toContain('sandbox')
        continue
      }
      const { code, stdout, stderr } = await begin(line).ended()
      expect([line, code, stderr]).toEqual([line, 0, expect.any(String)])
      if (line.endsWith(' status')) expect(stdout).toMatch(/^eth +(live|backfilling) /m)
      if (line.endsWith(' plan')) expect(stdout).toMatch(/^eth +everything +\d/m)
    }
  })
})

test('the cost at the top is that of the table', () => {
  const [, cost] = /about (\$\d+) for all of Ethereum/.exec(readme)!
  expect(readme).toMatch(new RegExp(`^\\| Ethereum \\| a node \\| [\\d,]+ \\| \\${cost} \\|`, 'm'))
})

describe('what the README points to', () => {
  test('exists', () => {
    const links = [...readme.matchAll(/\]\((?!https:)([^)#]+)\)/g)].map(([, path]) => path!)
    expect(links.length).toBeGreaterThan(3)
    for (const path of links) expect(() => readFileSync(`${root}/${path}`), path).not.toThrow()
  })

  test('what it says of the SDK is what the guide to moving runs', () => {
    const [, changes] = /```diff\n(.*?)^```$/ms.exec(readme)!
    const options = [...changes!.matchAll(/^\+ +(\w+):/gm)].map(([, name]) => name!)
    expect(options).toHaveLength(3)
    const guide = readFileSync(`${root}/docs/guides/moving.md`, 'utf8')
    for (const name of options) expect(guide).toMatch(new RegExp(`^  ${name}: `, 'm'))
  })

  test('its test command is the one that continuous integration runs', () => {
    const command = 'npm ci && npm test'
    expect(readme).toContain(`\n${command}\n`)
    expect(readFileSync(`${root}/.ci/run`, 'utf8').trimEnd().split('\n').at(-1)).toBe(command)
  })
})
