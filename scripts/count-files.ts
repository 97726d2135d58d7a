// Counts the files under `src` that execute a function for one page of transfers, one page of owners, one new block
// and one portfolio, with V8's coverage in a real service: `npm run count:files`, with `-- --list` for their names.
// What runs in every round counts, so timers do not.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { generateKeyPairSigner } from '@solana/kit'
import type { ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { truthByContract } from '../test/evm-harness.ts'
import { startSimNode } from '../test/sim/node.ts'
import { startProgramNode } from '../test/solana-program-node.ts'
import { Wallet } from '../test/solana-wallet.ts'
import type { ExecutedFiles } from './coverage-preload.ts'

const { values: options } = parseArgs({ options: { list: { type: 'boolean', default: false } } })
type Side = 'serving' | 'indexing'

const rounds = 20
const threads = new Set<number>()
let question = 0
const key = 'count-files'
const source = new URL('../src/', import.meta.url).href

const folder = mkdtempSync(join(tmpdir(), 'almanac-count-'))
const storeUrl = `file:${join(folder, 'almanac.db')}`
const evm = await startSimNode({ chain: { chainId: 1, height: 300, hashes: 'real' } })
const solana = await startProgramNode()
const service = startService()
try {
  const url = await listeningAt(service)
  const get = async (path: string): Promise<Response> => {
    const answer = await fetch(url + path, { headers: { 'x-api-key': key } })
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
    await answer.arrayBuffer()
    return answer
  }
  while (!(await isLive(url))) await delay(200)

  const truth = [...truthByContract(evm.chain, { from: 0, to: evm.chain.head })]
  const [contract] = truth.sort(([, a], [, b]) => b.length - a.length)[0]!
  let limit = 10
  const page = (): Promise<unknown> => get(`/api/v2.2/nft/${contract}/transfers?chain=eth&limit=${limit++}`)
  const owners = (): Promise<unknown> => get(`/api/v2.2/nft/${contract}/owners?chain=eth&limit=${limit++}`)

  const wallet = await Wallet.create(solana)
  const mint = await wallet.createMint({ decimals: 6 })
  const accounts: string[] = []
  for (let at = 0; at <= rounds; at++) {
    const { address } = await generateKeyPairSigner()
    await wallet.mintTo(address, mint, 2_500_000n)
    accounts.push(address)
  }
  const portfolio = (): Promise<unknown> => get(`/account/devnet/${accounts.pop()}/portfolio`)

  const store = await openStore(storeUrl, { role: 'reader' })
  const block = async (): Promise<void> => {
    evm.mine()
    // Asking the service would count as well.
    while ((await store.hotBlocks(1 as ChainId)).at(-1)?.number !== evm.chain.head) await delay(5)
    await delay(20)
  }

  await learnThreads()
  await report('a page of transfers', page, 'serving')
  await report('a page of owners', owners, 'serving')
  await report('a new block', block, 'indexing')
  await report('a portfolio', portfolio, 'serving')
  await store.close()
} finally {
  const ended = once(service, 'exit')
  service.kill('SIGTERM')
  await ended
  await evm.close()
  await solana.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function report(what: string, run: () => Promise<unknown>, side: Side): Promise<void> {
  await run()
  let always: Set<string> | undefined
  for (let round = 0; round < rounds; round++) {
    await executed(side)
    await run()
    const files = await executed(side)
    always = always?.intersection(files) ?? files
  }
  const files = [...(always ?? [])].sort()
  process.stdout.write(`${String(files.length).padStart(4)} files: ${what}\n`)
  if (options.list) process.stdout.write(`${files.map(file => `       ${file}\n`).join('')}\n`)
}

/** The files of `src` that the main thread, or all others, have executed since the last question. */
async function executed(side: Side): Promise<Set<string>> {
  const files = new Set<string>()
  const isAsked = (threadId: number): boolean => (threadId === 0) === (side === 'serving')
  const open = new Set([...threads].filter(isAsked))
  const { promise: answered, resolve } = Promise.withResolvers<void>()
  const asked = ++question
  const heard = (answer: ExecutedFiles): void => {
    if (answer.question !== asked || !isAsked(answer.threadId)) return
    for (const file of answer.files) if (file.startsWith(source)) files.add(file.slice(source.length))
    open.delete(answer.threadId)
    if (open.size === 0) resolve()
  }
  service.on('message', heard)
  service.send(asked)
  await answered
  service.off('message', heard)
  return files
}

async function learnThreads(): Promise<void> {
  const heard = ({ threadId }: ExecutedFiles): unknown => threads.add(threadId)
  service.on('message', heard)
  service.send(++question)
  while (threads.size < 2) await delay(50)
  await delay(1_000)
  service.off('message', heard)
}

async function isLive(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/status`, { headers: { 'x-api-key': key } })
  const { chains } = (await answer.json()) as { chains: { eth?: { state: string; complete: boolean } } }
  return chains.eth?.state === 'live' && chains.eth.complete
}

function startService(): ChildProcess {
  const config = join(folder, 'almanac.yaml')
  const text = [
    'listen: 127.0.0.1:0',
    `store: ${storeUrl}`,
    `chains: { eth: { rpc: ['${evm.url}'], ws: '${evm.endpoints[0]!.webSocketUrl}', index: full } }`,
    `solana: { devnet: { rpc: ['${solana.rpcUrl}'] } }`,
  ]
  writeFileSync(config, `${text.join('\n')}\n`)
  const preload = new URL('coverage-preload.ts', import.meta.url).href
  const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
  const command = ['--import', preload, main, 'start', '--config', config, '--log-format', 'json']
  return spawn(process.execPath, command, {
    env: { ...process.env, ALMANAC_KEY: key },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
}

async function listeningAt({ stderr }: ChildProcess): Promise<string> {
  let printed = ''
  for await (const chunk of stderr!.iterator({ destroyOnReturn: false })) {
    printed += String(chunk)
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]
    if (url === undefined) continue
    stderr!.resume()
    return url
  }
  throw new Error(`almanac start ended. It printed:\n${printed}`)
}
