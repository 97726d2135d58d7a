// The fields of each type of transaction in the order in which they are hashed. What is not listed is not known: such a
// transaction proves nothing, and stops nothing.

/** `name` is the node's; `to` empty creates a contract; `parity` is `yParity`, or `v` where a node leaves that out. */
export type TransactionField = {
  name: string
  kind: 'quantity' | 'bytes' | 'to' | 'parity' | 'access list' | 'hashes' | 'authorizations' | 'mint' | 'flag'
}

export type TransactionForm = {
  fields: readonly TransactionField[]
  /** It ends with a signature, from which the sender follows. */
  signed: boolean
  /** Checked on recorded transactions. A difference in another form may be an error of the form. */
  sure: boolean
}

/** `#quantity name:kind` and plain bytes. */
function fieldsOf(text: string): TransactionField[] {
  return text.split(' ').map((word): TransactionField => {
    if (word.startsWith('#')) return { name: word.slice(1), kind: 'quantity' }
    const [name, kind] = word.split(':') as [string, TransactionField['kind'] | undefined]
    return { name, kind: (kind?.replace('-', ' ') as TransactionField['kind'] | undefined) ?? 'bytes' }
  })
}

const call = '#gas to:to #value input'
const fees = '#chainId #nonce #maxPriorityFeePerGas #maxFeePerGas'
const signature = 'yParity:parity #r #s'
const signed = (text: string): TransactionForm => ({ fields: fieldsOf(text), signed: true, sure: true })
const unsigned = (text: string, sure = false): TransactionForm => ({ fields: fieldsOf(text), signed: false, sure })

export const transactionForms: ReadonlyMap<number, TransactionForm> = new Map([
  [0, signed(`#nonce #gasPrice ${call} #v #r #s`)],
  [1, signed(`#chainId #nonce #gasPrice ${call} accessList:access-list ${signature}`)],
  [2, signed(`${fees} ${call} accessList:access-list ${signature}`)],
  [3, signed(`${fees} ${call} accessList:access-list #maxFeePerBlobGas blobVersionedHashes:hashes ${signature}`)],
  [4, signed(`${fees} ${call} accessList:access-list authorizationList:authorizations ${signature}`)],
  // Deposits of OP chains.
  [0x7e, unsigned('sourceHash from to:to mint:mint #value #gas isSystemTx:flag input')],
  // Arbitrum: deposit, unsigned, contract, retry, submit retryable, internal.
  [0x64, unsigned('#chainId requestId from to #value')],
  [0x65, unsigned('#chainId from #nonce #gasPrice #gas to:to #value input')],
  [0x66, unsigned('#chainId requestId from #maxFeePerGas #gas to:to #value input')],
  [0x68, unsigned(`#chainId #nonce from #maxFeePerGas ${call} ticketId refundTo #maxRefund #submissionFeeRefund`)],
  [
    0x69,
    unsigned(
      '#chainId requestId from #l1BaseFee #depositValue #maxFeePerGas #gas retryTo:to #retryValue beneficiary ' +
        '#maxSubmissionFee refundTo retryData',
    ),
  ],
  [0x6a, unsigned('#chainId input', true)],
])

/** `v` of a transaction of type 0: the chain, which it may name since EIP-155, and the parity of the signature. */
export function readReplay(v: number): { chainId: number | undefined; parity: number } {
  if (v < 35) return { chainId: undefined, parity: v - 27 }
  return { chainId: Math.floor((v - 35) / 2), parity: (v - 35) % 2 }
}
