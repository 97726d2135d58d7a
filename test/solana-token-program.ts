// The real Token-2022 program, run in process, as the oracle for displayed amounts. Not a model of it.
import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  compileTransaction,
  createTransactionMessage,
  generateKeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
} from '@solana/kit'
import { ComputeBudget, FailedTransactionMetadata, LiteSVM } from 'litesvm'
import { tokenProgramAddresses } from '../src/solana/decode.ts'

const mintAddress = address('So11111111111111111111111111111111111111112')

export type TokenProgramOracle = {
  /** What AmountToUiAmount answers for the mint account's bytes at a moment of the chain's clock; undefined: an error. */
  uiAmount(options: { mint: Uint8Array; amount: bigint; chainTime: bigint }): string | undefined
}

export async function startTokenProgram(): Promise<TokenProgramOracle> {
  // Printing numbers near 10^300 costs the program more than the default budget.
  const generous = new ComputeBudget()
  generous.computeUnitLimit = 10_000_000n
  const svm = new LiteSVM()
    .withSigverify(false)
    .withBlockhashCheck(false)
    .withTransactionHistory(0n)
    .withComputeBudget(generous)
  const payer = await generateKeyPairSigner()
  svm.airdrop(payer.address, lamports(10_000_000_000n))
  return {
    uiAmount({ mint, amount, chainTime }) {
      const clock = svm.getClock()
      clock.unixTimestamp = chainTime
      svm.setClock(clock)
      svm.setAccount({
        address: mintAddress,
        lamports: lamports(1_000_000_000n),
        programAddress: address(tokenProgramAddresses['token-2022']),
        data: mint,
        executable: false,
        space: BigInt(mint.length),
      })
      const data = new Uint8Array(9)
      data[0] = 23
      new DataView(data.buffer).setBigUint64(1, amount, true)
      const message = pipe(
        createTransactionMessage({ version: 0 }),
        m => setTransactionMessageFeePayerSigner(payer, m),
        m => svm.setTransactionMessageLifetimeUsingLatestBlockhash(m as never) as unknown as typeof m,
        m =>
          appendTransactionMessageInstruction(
            {
              programAddress: address(tokenProgramAddresses['token-2022']),
              accounts: [{ address: mintAddress, role: AccountRole.READONLY }],
              data,
            },
            m,
          ),
      )
      const result = svm.simulateTransaction(compileTransaction(message as never) as never)
      if (result instanceof FailedTransactionMetadata) return undefined
      return Buffer.from(result.meta().returnData().data()).toString('utf8')
    },
  }
}

/** A Token-2022 mint account with one extension. */
export function mintWithExtension(options: { decimals: number; type: number; extension: Uint8Array }): Uint8Array {
  const data = new Uint8Array(166 + 4 + options.extension.length)
  const view = new DataView(data.buffer)
  view.setBigUint64(36, 2n ** 64n - 1n, true)
  data[44] = options.decimals
  data[45] = 1
  data[165] = 1
  view.setUint16(166, options.type, true)
  view.setUint16(168, options.extension.length, true)
  data.set(options.extension, 170)
  return data
}

export function interestExtension(rule: {
  initializedAt: bigint
  averageRate: number
  updatedAt: bigint
  currentRate: number
}): Uint8Array {
  const data = new Uint8Array(52)
  const view = new DataView(data.buffer)
  view.setBigInt64(32, rule.initializedAt, true)
  view.setInt16(40, rule.averageRate, true)
  view.setBigInt64(42, rule.updatedAt, true)
  view.setInt16(50, rule.currentRate, true)
  return data
}

export function scaledExtension(rule: { multiplier: number; nextFrom: bigint; nextMultiplier: number }): Uint8Array {
  const data = new Uint8Array(56)
  const view = new DataView(data.buffer)
  view.setFloat64(32, rule.multiplier, true)
  view.setBigInt64(40, rule.nextFrom, true)
  view.setFloat64(48, rule.nextMultiplier, true)
  return data
}
