// A local Solana network whose wallets hold tokens, NFTs and Token-2022 mints. Its owner asks for each further
// transfer.
import { Draws } from './draws.ts'
import { metadataProgram, type TokenProgram } from './solana-addresses.ts'
import * as write from './solana-instructions.ts'
import { metadataAccount, metadataAddress } from './solana-metadata.ts'
import type { SolanaNode } from './solana-node.ts'
import { createSigner, type SolanaSigner } from './solana-signer.ts'
import { encodeTransaction, type Instruction } from './solana-wire.ts'

const walletCount = 3
const picturesEach = 2
const lamportsPerSol = 1_000_000_000

type Token = {
  name: string
  symbol: string
  decimals: number
  program: TokenProgram
  rule?: write.MintRule
  /** Initial balance of each wallet. */
  each: bigint
}

const tokens: readonly Token[] = [
  { name: 'Sandbox Dollar', symbol: 'SUSD', decimals: 6, program: 'token', each: 2_500_000_000n },
  { name: 'Harbour Points', symbol: 'HBR', decimals: 0, program: 'token', each: 340n },
  {
    ...{ name: 'Savings', symbol: 'SAVE', decimals: 9, program: 'token-2022', each: 12_000_000_000n },
    rule: { kind: 'interest', basisPoints: 500 },
  },
  {
    ...{ name: 'Split Share', symbol: 'SPLIT', decimals: 6, program: 'token-2022', each: 75_000_000n },
    rule: { kind: 'scaled', multiplier: 2 },
  },
]

export type SolanaWorldOptions = {
  node: SolanaNode
  seed: string
  /** How long the node may take for one answer. */
  answerMsMax: number
}

type Held = { mint: string; program: TokenProgram; decimals: number; balances: bigint[] }

export class SolanaWorld {
  readonly wallets: readonly SolanaSigner[]
  readonly #node: SolanaNode
  readonly #draws: Draws
  readonly #seed: string
  readonly #answerMsMax: number
  /** Pays every fee and has every authority, so the wallets' balances change only by their own transfers. */
  readonly #bank: SolanaSigner
  readonly #held: Held[] = []

  private constructor({ node, seed, answerMsMax }: SolanaWorldOptions) {
    this.#node = node
    this.#seed = seed
    this.#answerMsMax = answerMsMax
    this.#draws = new Draws(seed, 'solana')
    this.#bank = createSigner(`${seed}/solana bank`)
    this.wallets = Array.from({ length: walletCount }, (_, index) => createSigner(`${seed}/solana wallet ${index}`))
  }

  static async create(options: SolanaWorldOptions): Promise<SolanaWorld> {
    const { node } = options
    const world = new SolanaWorld(options)
    await node.fund(world.#bank.address, 1_000 * lamportsPerSol)
    for (const [index, { address }] of world.wallets.entries()) await node.fund(address, (index + 2) * lamportsPerSol)
    for (const token of tokens) await world.#issue(token)
    for (let number = 1; number <= walletCount * picturesEach; number++) await world.#issuePicture(number)
    return world
  }

  /** Sends one transfer. */
  async transact(): Promise<void> {
    const from = this.#draws.below(walletCount)
    const to = (from + this.#draws.between(1, walletCount - 1)) % walletCount
    if (this.#draws.chance(25)) {
      const lamports = BigInt(this.#draws.between(1, 50)) * 100_000n
      await this.#send(
        this.wallets[from]!,
        write.transferSol(this.wallets[from]!.address, this.wallets[to]!.address, lamports),
      )
      return
    }
    const owned = this.#held.filter(({ balances }) => balances[from]! > 0n)
    if (owned.length > 0) await this.#move(this.#draws.oneOf(owned), from, to)
  }

  async #move(held: Held, from: number, to: number): Promise<void> {
    const { mint, program, decimals, balances } = held
    const isPicture = balances.reduce((sum, balance) => sum + balance) === 1n
    const amount = isPicture ? 1n : (balances[from]! * BigInt(this.#draws.between(1, 10))) / 100n || 1n
    const owner = this.wallets[from]!
    const receiver = this.wallets[to]!.address
    await this.#send(
      owner,
      write.createAssociated(this.#bank.address, { owner: receiver, mint, program }),
      write.transferToken({ owner: owner.address, mint, program }, { to: receiver, amount, decimals }),
    )
    balances[from]! -= amount
    balances[to]! += amount
  }

  async #issue({ each, ...token }: Token): Promise<void> {
    await this.#create(
      { ...token, isNft: false },
      this.wallets.map(() => each),
    )
  }

  async #issuePicture(number: number): Promise<void> {
    const picture = {
      name: `Lantern #${number}`,
      symbol: 'LANTERN',
      decimals: 0,
      program: 'token',
      isNft: true,
    } as const
    await this.#create(
      picture,
      this.wallets.map((_, index) => (index === number % walletCount ? 1n : 0n)),
    )
  }

  /** One transaction for a mint and its first balances, because nodes are slow for each. */
  async #create(token: Omit<Token, 'each'> & { isNft: boolean }, balances: bigint[]): Promise<void> {
    const { name, symbol, decimals, program, rule, isNft } = token
    const signer = createSigner(`${this.#seed}/solana mint ${name}`)
    const mint = signer.address
    const payer = this.#bank.address
    const given = this.wallets.flatMap(({ address: owner }, index) => {
      const place = { owner, mint, program }
      if (balances[index] === 0n) return []
      return [write.createAssociated(payer, place), write.mintTo(payer, place, balances[index]!)]
    })
    const created = write.createMint({ payer, mint, decimals, program, ...(rule === undefined ? {} : { rule }) })
    await this.#send(signer, ...created, ...given)
    await this.#node.setAccount(metadataAddress(mint), {
      lamports: lamportsPerSol,
      data: metadataAccount({ mint, authority: payer, name, symbol, isNft }),
      program: metadataProgram,
    })
    this.#held.push({ mint, program, decimals, balances })
  }

  async #send(signer: SolanaSigner, ...instructions: Instruction[]): Promise<void> {
    const { value } = await this.#ask<{ value: { blockhash: string } }>('getLatestBlockhash', [])
    const wire = encodeTransaction(instructions, { signers: [this.#bank, signer], blockhash: value.blockhash })
    const text = Buffer.from(wire).toString('base64')
    await this.#ask('sendTransaction', [text, { encoding: 'base64', skipPreflight: true }])
  }

  async #ask<Result>(method: string, params: readonly unknown[]): Promise<Result> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(this.#answerMsMax)
    const answer = await fetch(this.#node.rpcUrl, { method: 'POST', headers, body, signal })
    const { result, error } = (await answer.json()) as { result: Result; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
}
