// Sends token transactions to a test node and asks the node itself what an owner has: the oracle that is not ours.
import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import * as token from '@solana-program/token'
import * as token2022 from '@solana-program/token-2022'
import type { SolanaNode } from '../sandbox/src/solana-node.ts'
import type { TokenProgram } from '../src/model.ts'
import { tokenProgramAddresses } from '../src/solana/decode.ts'

const rent = 10_000_000n

export type TokenEntry = { account: string; mint: string; amountRaw: string }

export class Wallet {
  readonly #node: SolanaNode
  readonly payer: KeyPairSigner

  static async create(node: SolanaNode): Promise<Wallet> {
    const payer = await generateKeyPairSigner()
    await node.fund(payer.address, 100_000_000_000)
    return new Wallet(node, payer)
  }

  private constructor(node: SolanaNode, payer: KeyPairSigner) {
    this.#node = node
    this.payer = payer
  }

  async rpc<T>(method: string, params: readonly unknown[]): Promise<T> {
    const answer = await fetch(this.#node.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await answer.json()) as { result: T; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }

  async send(...instructions: Instruction[]): Promise<void> {
    await this.rpc('sendTransaction', [await this.#wire(instructions), { encoding: 'base64', skipPreflight: true }])
  }

  async #wire(instructions: Instruction[]): Promise<string> {
    const { value } = await this.rpc<{ value: { blockhash: string; lastValidBlockHeight: number } }>(
      'getLatestBlockhash',
      [],
    )
    const lifetime = { blockhash: value.blockhash, lastValidBlockHeight: BigInt(value.lastValidBlockHeight) }
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      m => setTransactionMessageFeePayerSigner(this.payer, m),
      m => setTransactionMessageLifetimeUsingBlockhash(lifetime as never, m),
      m => appendTransactionMessageInstructions(instructions, m),
    )
    return getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message))
  }

  /** Creates a mint whose authority is the payer. Extensions are initialised by the given instructions. */
  async createMint(options: {
    decimals: number
    program?: TokenProgram
    space?: bigint
    extensions?: (mint: Address) => Instruction[]
    afterwards?: (mint: Address) => Instruction[]
    freeze?: boolean
  }): Promise<Address> {
    const { decimals, program = 'token', space = 82n, extensions, afterwards, freeze = true } = options
    const mint = await generateKeyPairSigner()
    const library = program === 'token' ? token : token2022
    await this.send(
      getCreateAccountInstruction({
        payer: this.payer,
        newAccount: mint,
        lamports: rent,
        space,
        programAddress: tokenProgramAddresses[program] as Address,
      }),
      ...(extensions?.(mint.address) ?? []),
      library.getInitializeMint2Instruction({
        mint: mint.address,
        decimals,
        mintAuthority: this.payer.address,
        freezeAuthority: freeze ? this.payer.address : null,
      }),
      ...(afterwards?.(mint.address) ?? []),
    )
    return mint.address
  }

  async associatedAccount(owner: Address, mint: Address, program: TokenProgram = 'token'): Promise<Address> {
    const seeds = { owner, mint, tokenProgram: tokenProgramAddresses[program] as Address }
    return (await token.findAssociatedTokenPda(seeds))[0]
  }

  async createAssociated(owner: Address, mint: Address, program: TokenProgram = 'token'): Promise<Instruction> {
    return token.getCreateAssociatedTokenIdempotentInstructionAsync({
      payer: this.payer,
      owner,
      mint,
      tokenProgram: tokenProgramAddresses[program] as Address,
    })
  }

  /** Mints to the owner's associated account, which is created if needed. */
  async mintTo(owner: Address, mint: Address, amount: bigint, program: TokenProgram = 'token'): Promise<Address> {
    const account = await this.associatedAccount(owner, mint, program)
    const library = program === 'token' ? token : token2022
    await this.send(
      await this.createAssociated(owner, mint, program),
      library.getMintToInstruction({ mint, token: account, mintAuthority: this.payer, amount }),
    )
    return account
  }

  async transferSol(destination: Address, amount: bigint): Promise<void> {
    await this.send(getTransferSolInstruction({ source: this.payer, destination, amount }))
  }

  /** Every token account with a balance, as the node's `jsonParsed` has it, both programs, in the order of raw keys. */
  async tokensOf(owner: string): Promise<TokenEntry[]> {
    const entries: TokenEntry[] = []
    for (const programId of Object.values(tokenProgramAddresses)) {
      const { value } = await this.rpc<{ value: ParsedTokenAccount[] }>('getTokenAccountsByOwner', [
        owner,
        { programId },
        { encoding: 'jsonParsed', commitment: 'confirmed' },
      ])
      for (const { pubkey, account } of value) {
        const { mint, tokenAmount } = account.data.parsed.info
        if (tokenAmount.amount !== '0') entries.push({ account: pubkey, mint, amountRaw: tokenAmount.amount })
      }
    }
    return entries.sort((a, b) => (a.account < b.account ? -1 : 1))
  }

  async lamportsOf(owner: string): Promise<bigint> {
    const { value } = await this.rpc<{ value: ({ lamports: number } | null)[] }>('getMultipleAccounts', [
      [owner],
      { encoding: 'base64', commitment: 'confirmed' },
    ])
    return BigInt(value[0]?.lamports ?? 0)
  }

  /** What the Token-2022 program itself says that an amount is, by simulating AmountToUiAmount. */
  async uiAmount(mint: Address, amount: bigint): Promise<string> {
    const data = new Uint8Array(9)
    data[0] = 23
    new DataView(data.buffer).setBigUint64(1, amount, true)
    const instruction = {
      programAddress: tokenProgramAddresses['token-2022'] as Address,
      accounts: [{ address: mint, role: AccountRole.READONLY }],
      data,
    }
    const { value } = await this.rpc<{ value: { returnData: { data: [string, string] } } }>('simulateTransaction', [
      await this.#wire([instruction]),
      { encoding: 'base64' },
    ])
    return Buffer.from(value.returnData.data[0], 'base64').toString('utf8')
  }
}

type ParsedTokenAccount = {
  pubkey: string
  account: { data: { parsed: { info: { mint: string; tokenAmount: { amount: string } } } } }
}
