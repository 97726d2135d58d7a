// A small node that runs the real token programs in process: enough JSON-RPC and WebSocket for the portfolio, with
// `minContextSlot` and notifications like a validator's.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { base58 } from '@scure/base'
import type * as Native from 'litesvm/dist/internal.js'
import { type WebSocket, WebSocketServer } from 'ws'
import { listen } from './listen.ts'
import { clockSysvar, systemProgram } from './solana-addresses.ts'
import { litesvmPackage, type SolanaNode, type SolanaNodeOptions } from './solana-node.ts'
import { decodeTransaction } from './solana-wire.ts'

const slotMsDefault = 100

type Filter = { memcmp: { offset: number; bytes: string } }
type Subscription = {
  socket: WebSocket
  id: number
  kind: 'account' | 'program' | 'slot'
  key: string
  filters: Filter[]
}
type Account = { lamports: bigint; programAddress: string; data: Uint8Array }

export type ProgramNodeOptions = SolanaNodeOptions & {
  /** Answers `jsonParsed` for a token account; without it, that encoding is refused. */
  parseTokenAccount?: (data: Uint8Array) => unknown
  /** As some nodes do, tells no subscription of an account that is gone. */
  hidesCloses?: () => boolean
}

export async function startProgramNode(options: ProgramNodeOptions = {}): Promise<SolanaNode> {
  const { parseTokenAccount, hidesCloses = () => false, firstSlot = 0, slotMs = slotMsDefault } = options
  // The native package alone: the library around it would install all of Solana's kit, to encode what is bytes here.
  const native: typeof Native = createRequire(import.meta.url)(litesvmPackage!)
  const svm = new native.LiteSvm()
  svm.withNativeMints()
  svm.setTransactionHistory(0n)
  svm.setBlockhashCheck(false)
  if (firstSlot > 0) svm.warpToSlot(BigInt(firstSlot))
  const subscriptions = new Map<number, Subscription>()
  let nextSubscription = 1
  let timeOffset = 0n

  const slot = () => Number(svm.getClock().slot)
  const accountAt = (key: string): Account | undefined => {
    const account = svm.getAccount(base58.decode(key))
    return account === null || account.lamports() === 0n ? undefined : plain(account)
  }
  const tick = () => {
    const clock = svm.getClock()
    clock.slot++
    clock.unixTimestamp = BigInt(Math.floor(Date.now() / 1_000)) + timeOffset
    svm.setClock(clock)
    for (const subscription of subscriptions.values())
      if (subscription.kind === 'slot')
        notify(subscription, 'slotNotification', { parent: slot() - 1, root: Math.max(0, slot() - 32), slot: slot() })
    notifyAccount(clockSysvar)
  }
  const notify = ({ socket, id }: Subscription, method: string, result: unknown) =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', method, params: { result, subscription: id } }))
  const notifyAccount = (key: string) => {
    const account = accountAt(key)
    if (account === undefined && hidesCloses()) return
    const context = { slot: slot() }
    for (const subscription of subscriptions.values()) {
      if (subscription.kind === 'account' && subscription.key === key) {
        const gone = { lamports: 0n, programAddress: systemProgram, data: new Uint8Array() }
        notify(subscription, 'accountNotification', { context, value: described(account ?? gone) })
      } else if (subscription.kind === 'program' && account !== undefined && matches(account, subscription)) {
        const value = { pubkey: key, account: described(account) }
        notify(subscription, 'programNotification', { context, value })
      }
    }
  }

  const methods: Record<string, (params: never) => unknown> = {
    getGenesisHash: () => systemProgram,
    getSlot: () => slot(),
    getLatestBlockhash: () => ({
      context: { slot: slot() },
      value: { blockhash: svm.latestBlockhash(), lastValidBlockHeight: slot() + 150 },
    }),
    getMultipleAccounts: ([keys, options]: [string[], Options]) => {
      if (keys.length > 100) throw new RpcError(-32602, 'Too many inputs provided; max 100')
      return at(options, () => keys.map(key => describedOrNull(accountAt(key))))
    },
    getTokenAccountsByOwner: ([owner, { programId }, options]: [string, { programId: string }, Options]) =>
      at(options, () =>
        svm
          .getProgramAccounts(base58.decode(programId))
          .map(found => ({ pubkey: base58.encode(found.address), account: plain(found.account()) }))
          .filter(({ account }) => account.lamports > 0n && isTokenAccountOf(account.data, owner))
          .map(({ pubkey, account }) => ({ pubkey, account: shown(account, options) })),
      ),
    sendTransaction: ([wire]: [string]) => {
      const bytes = Buffer.from(wire, 'base64')
      const transaction = decodeTransaction(bytes)
      const result = isLegacy(transaction) ? svm.sendLegacyTransaction(bytes) : svm.sendVersionedTransaction(bytes)
      if (result instanceof native.FailedTransactionMetadata)
        throw new RpcError(-32002, `${result.toString()} ${result.meta().logs().join(' | ')}`)
      svm.expireBlockhash()
      for (const key of transaction.keys) notifyAccount(key)
      return base58.encode(result.signature())
    },
    simulateTransaction: ([wire]: [string]) => {
      const bytes = Buffer.from(wire, 'base64')
      const result = isLegacy(decodeTransaction(bytes))
        ? svm.simulateLegacyTransaction(bytes)
        : svm.simulateVersionedTransaction(bytes)
      if (result instanceof native.FailedTransactionMetadata) throw new RpcError(-32002, result.toString())
      const data = Buffer.from(result.meta().returnData().data()).toString('base64')
      return { context: { slot: slot() }, value: { err: null, returnData: { data: [data, 'base64'] } } }
    },
  }
  const shown = (account: Account, { encoding, dataSlice }: Options = {}): object => {
    if (encoding !== 'jsonParsed') return described(account, dataSlice)
    if (parseTokenAccount === undefined) throw new RpcError(-32602, 'jsonParsed is not offered')
    return { ...described(account), data: parseTokenAccount(account.data) }
  }
  const at = (options: Options | undefined, value: () => unknown) => {
    if ((options?.minContextSlot ?? 0) > slot()) throw new RpcError(-32016, 'Minimum context slot has not been reached')
    return { context: { slot: slot() }, value: value() }
  }
  const subscribe = (socket: WebSocket, method: string, [key, options]: [string, Options | undefined]) => {
    const kind = method.replace('Subscribe', '') as Subscription['kind']
    const id = nextSubscription++
    subscriptions.set(id, { socket, id, kind, key, filters: options?.filters ?? [] })
    return id
  }

  const http = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString())
    outgoing.setHeader('content-type', 'application/json')
    try {
      const answer = methods[method]
      if (answer === undefined) throw new RpcError(-32601, `Method not found: ${method}`)
      outgoing.end(JSON.stringify({ jsonrpc: '2.0', id, result: answer(params as never) }))
    } catch (error) {
      const { code, message } = error instanceof RpcError ? error : new RpcError(-32603, String(error))
      outgoing.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }))
    }
  })
  const sockets = new WebSocketServer({ noServer: true }).on('connection', socket => {
    socket.on('message', text => {
      const { id, method, params } = JSON.parse(String(text))
      let result: unknown = true
      if (method.endsWith('Unsubscribe')) subscriptions.delete(params[0])
      else result = subscribe(socket, method, params ?? [])
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
    socket.on('close', () => {
      for (const [id, subscription] of subscriptions) if (subscription.socket === socket) subscriptions.delete(id)
    })
  })
  const ws = createServer().on('upgrade', (incoming, socket, head) =>
    sockets.handleUpgrade(incoming, socket, head, client => sockets.emit('connection', client, incoming)),
  )
  const timer = setInterval(tick, slotMs)
  return {
    rpcUrl: await listen(http),
    wsUrl: (await listen(ws)).replace('http:', 'ws:'),
    async fund(address, amount) {
      svm.airdrop(base58.decode(address), BigInt(amount))
      notifyAccount(address)
    },
    async setAccount(address, { lamports: balance, data, program }) {
      const account = new native.Account(BigInt(balance), data, base58.decode(program), false, 0n)
      svm.setAccount(base58.decode(address), account)
      notifyAccount(address)
    },
    async travelTo(unixTimestamp) {
      timeOffset = BigInt(unixTimestamp - Math.floor(Date.now() / 1_000))
      tick()
    },
    async stop() {
      clearInterval(timer)
      for (const client of sockets.clients) client.terminate()
      for (const server of [http, ws]) {
        server.closeAllConnections()
        await new Promise(done => server.close(done))
      }
    },
  }
}

type DataSlice = { offset?: number; length?: number }
type Options = {
  encoding?: string
  minContextSlot?: number
  dataSlice?: DataSlice
  filters?: Filter[]
}

class RpcError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

function matches(account: Account, { key, filters }: Subscription): boolean {
  if (account.programAddress !== key) return false
  return filters.every(({ memcmp: { offset, bytes } }) => {
    const wanted = base58.decode(bytes)
    return Buffer.compare(account.data.subarray(offset, offset + wanted.length), wanted) === 0
  })
}

function isTokenAccountOf(data: Uint8Array, owner: string): boolean {
  if (data.length !== 165 && (data.length < 166 || data[165] !== 2)) return false
  return data[108] !== 0 && base58.encode(data.subarray(32, 64)) === owner
}

function describedOrNull(account: Account | undefined): unknown {
  return account === undefined ? null : described(account)
}

function described(account: Account, { offset = 0, length = account.data.length }: DataSlice = {}): object {
  const text = Buffer.from(account.data.subarray(offset, offset + length)).toString('base64')
  return {
    lamports: Number(account.lamports),
    owner: account.programAddress,
    data: [text, 'base64'],
    executable: false,
    rentEpoch: 0,
    space: account.data.length,
  }
}

const plain = (account: Native.Account): Account => ({
  lamports: account.lamports(),
  programAddress: base58.encode(account.owner()),
  data: account.data(),
})

/** The highest bit of a message's first byte says that a version follows. */
const isLegacy = ({ message }: { message: Uint8Array }): boolean => message[0]! < 0x80
