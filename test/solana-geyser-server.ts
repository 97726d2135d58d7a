// A gRPC server that speaks the Yellowstone protocol and tells what a test says. It replays nothing by itself.
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js'
import { SubscribeRequest, SubscribeUpdate } from '@triton-one/yellowstone-grpc'

export type GeyserStream = ServerDuplexStream<SubscribeRequest, SubscribeUpdate>

type ToldAccount = { key: Uint8Array; lamports: bigint; program: Uint8Array; data: Uint8Array; writeVersion?: bigint }

export type GeyserServer = {
  url: string
  /** Every stream that was opened, with what it asked for. */
  calls: { call: GeyserStream; requests: SubscribeRequest[] }[]
  readonly lastSlot: number
  /** Where the newest stream wants its replay from. */
  replayFrom(): number | undefined
  account(account: ToldAccount, slot: number): void
  slot(slot: number): void
  /** Ends the newest stream with an error. */
  drop(details: string): void
  stop(): void
}

export async function startGeyserServer(): Promise<GeyserServer> {
  const calls: GeyserServer['calls'] = []
  const server = new Server()
  let version = 0
  let lastSlot = 0
  server.addService(
    {
      subscribe: {
        path: '/geyser.Geyser/Subscribe',
        requestStream: true,
        responseStream: true,
        requestSerialize: (value: SubscribeRequest) => Buffer.from(SubscribeRequest.encode(value).finish()),
        requestDeserialize: (bytes: Buffer) => SubscribeRequest.decode(bytes),
        responseSerialize: (value: SubscribeUpdate) => Buffer.from(SubscribeUpdate.encode(value).finish()),
        responseDeserialize: (bytes: Buffer) => SubscribeUpdate.decode(bytes),
      },
    },
    {
      subscribe(call: GeyserStream) {
        const requests: SubscribeRequest[] = []
        calls.push({ call, requests })
        call.on('data', request => requests.push(request))
        call.on('error', () => {})
      },
    },
  )
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  )
  const tell = (update: SubscribeUpdate) => {
    const call = calls.at(-1)?.call
    if (call !== undefined && !call.destroyed) call.write(update)
  }
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    get lastSlot() {
      return lastSlot
    },
    replayFrom() {
      const from = calls.at(-1)?.requests[0]?.fromSlot
      return from === undefined ? undefined : Number(from)
    },
    account({ key, lamports, program, data, writeVersion }, slot) {
      version++
      const account = {
        pubkey: key,
        lamports: String(lamports),
        owner: program,
        data,
        writeVersion: String(writeVersion ?? version),
      }
      tell(SubscribeUpdate.fromPartial({ filters: ['tokens'], account: { slot: String(slot), account } }))
    },
    slot(slot) {
      lastSlot = slot
      tell(SubscribeUpdate.fromPartial({ filters: ['slots'], slot: { slot: String(slot), status: 1 } }))
    },
    drop(details) {
      calls.at(-1)?.call.emit('error', { code: 11, details })
    },
    stop() {
      server.forceShutdown()
    },
  }
}
