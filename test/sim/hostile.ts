// A hostile node: what it makes of honest answers. An attack is a function from the honest reply to the one that is
// sent, so attacks can be combined, and any endpoint of the simulator can be turned.
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Call, Forgery, Reply } from './endpoint.ts'
import type { SimNode } from './node.ts'

export type Answer = { jsonrpc: string; id: unknown; result?: unknown; error?: unknown }

/** Applies them one after another. */
export function combined(...forgeries: readonly Forgery[]): Forgery {
  return (honest, calls) => forgeries.reduce((reply, forge) => forge(reply, calls), honest)
}

/** Changes each answer; texts and bytes are sent as they are. */
export function forgedAnswers(change: (answer: Answer, call: Call) => object | string | Buffer[]): Forgery {
  return (honest, calls) => {
    const parsed = JSON.parse(Buffer.concat(honest.parts).toString()) as Answer | Answer[]
    const forge = (answer: Answer): Buffer[] => {
      const call = calls.find(({ id }) => id === answer.id)
      const forged = call === undefined ? answer : change(answer, call)
      if (isBytes(forged)) return forged
      return [Buffer.from(typeof forged === 'string' ? forged : JSON.stringify(forged))]
    }
    if (!Array.isArray(parsed)) return { ...honest, parts: forge(parsed) }
    const parts = parsed.flatMap((answer, at) => [Buffer.from(at === 0 ? '[' : ','), ...forge(answer)])
    return { ...honest, parts: [...parts, Buffer.from(']')] }
  }
}

function isBytes(forged: object | string): forged is Buffer[] {
  return Array.isArray(forged) && forged.every(Buffer.isBuffer)
}

/** Changes the results of some methods; a text and bytes are sent as they are. */
export function forgedResults(
  methods: readonly string[],
  // biome-ignore lint/suspicious/noExplicitAny: an attack changes whatever it finds.
  change: (result: any, call: Call) => unknown,
): Forgery {
  return forgedAnswers((answer, call) => {
    if (!methods.includes(call.method) || answer.result === undefined || answer.result === null) return answer
    const result = change(answer.result, call)
    const opening = `{"jsonrpc":"2.0","id":${JSON.stringify(answer.id)},"result":`
    if (Buffer.isBuffer(result)) return [Buffer.from(opening), result, Buffer.from('}')]
    return typeof result === 'string' ? `${opening}${result}}` : { ...answer, result }
  })
}

/** Only where one of the methods is asked for. */
export function onlyFor(methods: readonly string[], forge: Forgery): Forgery {
  return (honest, calls) => (calls.some(({ method }) => methods.includes(method)) ? forge(honest, calls) : honest)
}

export const blocksAndReceipts = ['eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getBlockReceipts']

/** Every answer is this error. */
export function refusedWith(methods: readonly string[], error: unknown): Forgery {
  return forgedAnswers((answer, { method, id }) => (methods.includes(method) ? { jsonrpc: '2.0', id, error } : answer))
}

export function withText(reply: Reply, text: string | Buffer, headers: Record<string, string> = {}): Reply {
  return {
    ...reply,
    headers: { ...reply.headers, ...headers },
    parts: [typeof text === 'string' ? Buffer.from(text) : text],
  }
}

const mebibyte = 2 ** 20
const spaces = lazily(() => Buffer.alloc(64 * mebibyte, ' '))
/** A gigabyte in a megabyte: each stream is unpacked after the one before. */
export const gzipBomb = lazily(() => Buffer.concat(new Array<Buffer>(16).fill(gzipSync(spaces(), { level: 5 }))))
const brotliBomb = lazily(() => brotliCompressSync(spaces(), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }))
const lists = lazily(() => Buffer.from(`[${'[],'.repeat(5_000_000)}[]]`))
const levels = lazily(() => Buffer.from(`${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`))
const twiceTheLevels = lazily(() => Buffer.from(`${'['.repeat(2_000_000)}${']'.repeat(2_000_000)}`))

/** Large ones are made when they are first needed. */
function lazily<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}

export type Attack = {
  name: string
  /** Anew for each run: it may remember what it was asked. */
  forge: (node: SimNode) => Forgery
}

const attack = (name: string, forge: Attack['forge']): Attack => ({ name, forge })
const breaking =
  (breaks: NonNullable<Reply['breaks']>): (() => Forgery) =>
  () =>
  honest => ({ ...honest, breaks })
const redirect =
  (status: number, to: string): (() => Forgery) =>
  () =>
  honest => ({
    ...honest,
    status,
    headers: { location: to },
    parts: [],
  })

/** Attacks on the transport, given an address that must never be asked. */
export function transportAttacks(elsewhere: string): Attack[] {
  const receiptsOnly = ['eth_getBlockReceipts']
  return [
    attack('15 MB of empty lists as a block', () => forgedResults(['eth_getBlockByNumber'], lists)),
    attack('15 MB of empty lists as receipts', () => forgedResults(receiptsOnly, lists)),
    attack('a million levels', () => forgedResults(blocksAndReceipts, levels)),
    attack('two million levels as receipts', () => forgedResults(receiptsOnly, twiceTheLevels)),
    attack('an endless answer', breaking('endless')),
    attack('a gzip bomb', () => honest => withText(honest, gzipBomb(), { 'content-encoding': 'gzip' })),
    attack('a brotli bomb', () => honest => withText(honest, brotliBomb(), { 'content-encoding': 'br' })),
    attack('bytes that are not gzip', () => honest => ({
      ...honest,
      headers: { ...honest.headers, 'content-encoding': 'gzip' },
    })),
    attack('an unknown encoding', () => honest => withText(honest, gzipBomb(), { 'content-encoding': 'zstd' })),
    attack('64 MB of spaces', () => honest => withText(honest, spaces())),
    attack('a drip', breaking('drip')),
    attack('pieces of a byte', () =>
      onlyFor(receiptsOnly, honest => ({ ...withText(honest, ' '.repeat(30_000)), breaks: 'crumbs' })),
    ),
    attack('silence', breaking('hang')),
    attack('a cut-off body', breaking('truncated')),
    attack('a redirect (302)', redirect(302, elsewhere)),
    attack('a redirect (307)', redirect(307, elsewhere)),
    attack('a redirect (308)', redirect(308, elsewhere)),
    attack('ids of other calls', () => forgedAnswers(answer => ({ ...answer, id: Number(answer.id) + 1 }))),
    attack('ids as text', () => forgedAnswers(answer => ({ ...answer, id: String(answer.id) }))),
    attack('no ids', () => forgedAnswers(answer => ({ ...answer, id: null }))),
    attack('a batch without its last answer', () => (honest, calls) => {
      if (calls.length < 2) return honest
      const answers = JSON.parse(Buffer.concat(honest.parts).toString()) as Answer[]
      return withText(honest, JSON.stringify(answers.slice(0, -1)))
    }),
    attack('errors that cannot be made a text', () =>
      refusedWith(blocksAndReceipts, { code: {}, message: { toString: 1, valueOf: 1 }, data: { toJSON: 1 } }),
    ),
    attack('an error of 5 MB', () => refusedWith(blocksAndReceipts, { code: 1, message: 'x'.repeat(5 * mebibyte) })),
    attack('errors with halves of pairs and marks of direction', () =>
      refusedWith(receiptsOnly, { code: 1, message: '\ud800\u202e\u0000' }),
    ),
    attack('too many results for every block', () =>
      refusedWith(receiptsOnly, { code: -32005, message: 'query returned more than 10000 results' }),
    ),
    attack('a response too large for every block', () =>
      refusedWith(receiptsOnly, { code: -32000, message: 'response too large' }),
    ),
    attack('null for every block', () => forgedAnswers(answer => ({ ...answer, result: null }))),
  ]
}

/** Answers of the right form and size that no node would give. */
export function valueAttacks(): Attack[] {
  // biome-ignore lint/suspicious/noExplicitAny: an attack changes whatever it finds.
  const receipts = (change: (receipt: any) => unknown) => () =>
    forgedResults(['eth_getBlockReceipts'], list => list.map(change))
  // biome-ignore lint/suspicious/noExplicitAny: an attack changes whatever it finds.
  const logs = (change: (log: any) => unknown) => receipts(receipt => ({ ...receipt, logs: receipt.logs.map(change) }))
  const odd = { toString: 1, valueOf: 1 }
  return [
    attack('head beyond 2^53', () =>
      forgedResults(['eth_getBlockByNumber', 'eth_getBlockByHash'], block => ({
        ...block,
        number: '0xffffffffffffffff',
      })),
    ),
    attack('numbers that are not text', () =>
      forgedResults(['eth_getBlockByNumber'], block =>
        JSON.stringify({ ...block, number: 0 }).replace('"number":0', '"number":1e400'),
      ),
    ),
    attack('times beyond 2^53', () =>
      forgedResults(['eth_getBlockByNumber'], block => ({ ...block, timestamp: '0xffffffffffffffffff' })),
    ),
    attack('a chain id that is an object', () => forgedResults(['eth_chainId'], () => odd)),
    attack(
      'receipts of null',
      receipts(() => null),
    ),
    attack(
      'receipts without logs',
      receipts(({ logs: _, ...receipt }) => receipt),
    ),
    attack(
      'logs as an object',
      receipts(receipt => ({ ...receipt, logs: { length: 3 } })),
    ),
    attack(
      'topics of objects',
      logs(log => ({ ...log, topics: [odd, [odd]] })),
    ),
    attack(
      'topics that are a number',
      logs(log => ({ ...log, topics: 7 })),
    ),
    attack(
      'an address that is an object',
      logs(log => ({ ...log, address: odd })),
    ),
    attack(
      'data that is a list',
      logs(log => ({ ...log, data: [[]] })),
    ),
    attack('transactions of numbers', () =>
      forgedResults(['eth_getBlockByNumber'], block => ({ ...block, transactions: block.transactions.map(() => 7) })),
    ),
    attack('senders that are objects', () =>
      forgedResults(['eth_getBlockByNumber'], block => ({
        ...block,
        // biome-ignore lint/suspicious/noExplicitAny: an attack changes whatever it finds.
        transactions: block.transactions.map((each: any) => (typeof each === 'string' ? each : { ...each, from: odd })),
      })),
    ),
  ]
}

/** Stories that change while they are told. */
export function changingAttacks(): Attack[] {
  return [
    attack('a chain id that changes', () => {
      let asked = 0
      const changing = forgedResults(['eth_chainId'], id => JSON.stringify(asked > 8 ? '0x89' : id))
      // A connection that breaks is what shows of another node behind the same address.
      return combined(changing, honest => (asked++ % 9 === 8 ? { ...honest, breaks: 'reset' } : honest))
    }),
    attack('a head that goes backwards', node => {
      let blocks = 0
      return honest => {
        node.endpoints[0]!.faults = [{ kind: 'lagging', blocks: blocks++ % 30 }]
        return honest
      }
    }),
  ]
}

/** The newest blocks are others each time they are asked for. */
export function endlessForks(node: SimNode): Forgery {
  return (honest, calls) => {
    if (calls.some(({ params }) => params?.[0] === 'latest')) node.reorg({ depth: 2, length: 2 })
    return honest
  }
}
