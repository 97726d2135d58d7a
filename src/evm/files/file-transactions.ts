// Reads the transactions of a block from RLP: what rows need of each, and the bytes that the transactions root holds.
// Senders are not among them: they follow from signatures, and recovering one costs more than reading a block.
import { keccakDigits } from '../proof/block-hash.ts'
import { transactionForms } from '../proof/transaction-types.ts'
import { UnreadableFile } from './e2store.ts'
import { RlpCursor } from './rlp-cursor.ts'

export type FileTransaction = {
  hash: string
  /** Null where it creates a contract. */
  to: string | null
  value: string
  nonce: string
}

type ReadTransactions = {
  transactions: FileTransaction[]
  /** As the root holds them: the type, unless it is 0, then the RLP. */
  encoded: Uint8Array[]
}

/** `chainId`: what transactions must be signed for, if they say so. */
export function readTransactions(list: RlpCursor, chainId: number | undefined): ReadTransactions {
  const transactions: FileTransaction[] = []
  const encoded: Uint8Array[] = []
  while (!list.isAtEnd) {
    list.next()
    const bytes = list.isList ? list.encoded() : list.content()
    const hash = `0x${keccakDigits(bytes)}`
    const type = list.isList ? 0 : (bytes[0] ?? 0)
    const form = formOf(type)
    if (form === undefined || (type === 0 && !list.isList))
      throw new UnreadableFile(`has a transaction of the unknown type ${type}`)
    const fields = list.isList ? new RlpCursor(list.bytes, list.from, list.to) : typedList(list)
    const transaction = readFields(fields, form, chainId)
    encoded.push(bytes)
    transactions.push({ hash, ...transaction })
  }
  return { transactions, encoded }
}

type Form = { type: number; nonce: number; to: number; value: number; count: number }

/** Places of the fields, by type. */
const forms = new Map<number, Form>()
for (const [type, { fields, signed }] of transactionForms) {
  const place = (name: string): number => fields.findIndex(field => field.name === name)
  const places = { nonce: place('nonce'), to: place('to'), value: place('value') }
  if (signed) forms.set(type, { type, ...places, count: fields.length })
}

function formOf(type: number): Form | undefined {
  return forms.get(type)
}

/** The list behind the type of a typed transaction. */
function typedList(item: RlpCursor): RlpCursor {
  const whole = new RlpCursor(item.bytes, item.from + 1, item.to)
  const list = whole.list()
  whole.end()
  return list
}

function readFields(
  fields: RlpCursor,
  form: Form,
  chainId: number | undefined,
): Pick<FileTransaction, 'to' | 'value' | 'nonce'> {
  let [to, value, nonce]: [string | null, string, string] = [null, '', '']
  for (let place = 0; place < form.count; place++) {
    if (place === form.nonce) nonce = fields.quantity()
    else if (place === form.value) value = fields.quantity()
    else if (place === form.to) {
      const length = fields.string().to - fields.from
      if (length !== 0 && length !== 20) throw new UnreadableFile(`has a transaction to ${length} bytes`)
      to = length === 0 ? null : fields.hex()
    } else if (place === 0 && form.type > 0) requireChain(fields.number(), chainId)
    else if (place === replayPlace && form.type === 0) {
      const v = fields.number()
      if (v >= 35) requireChain(Math.floor((v - 35) / 2), chainId)
    } else fields.next()
  }
  fields.end()
  return { to, value, nonce }
}

/** `v` of a transaction of type 0: it names the chain since EIP-155. */
const replayPlace = 6

function requireChain(named: number, chainId: number | undefined): void {
  if (chainId !== undefined && named !== chainId)
    throw new UnreadableFile(`has a transaction that is signed for the chain ${named} and not for ${chainId}`)
}
