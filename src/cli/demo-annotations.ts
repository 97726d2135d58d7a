// Names the sandbox's wallets and marks two of its collections, as an operator would by command.
import { operatorSource } from '../annotate/sources.ts'
import type { Address, ChainId } from '../model.ts'
import type { Sandbox, SandboxChain } from '../sandbox/sandbox.ts'
import type { Mark } from '../store/mark-store.ts'
import { openStore } from '../store/open.ts'

const names = ['Sandbox: deployer', 'Ada', 'Ben', 'Cleo', 'Dora', 'Emil']

const own = { source: operatorSource, rank: 'operator', updatedAt: Date.now() } as const

export async function annotateSandbox({ chains, wallets }: Sandbox, storeUrl: string): Promise<void> {
  const store = await openStore(storeUrl, { role: 'tool' })
  try {
    await store.putLabels(
      names.flatMap((label, at) =>
        wallets[at] === undefined ? [] : [{ ...own, chain: undefined, address: wallets[at] as Address, label }],
      ),
    )
    await store.putMarks(
      chains.flatMap(({ id, collections }) => collections.flatMap(collection => markOf(id, collection))),
    )
  } finally {
    await store.close()
  }
}

function markOf(chain: number, { kind, address }: SandboxChain['collections'][number]): Mark[] {
  const isVerified = kind === 'ERC721'
  const isSpam = kind === 'airdrop'
  if (!isVerified && !isSpam) return []
  const contract = address as Address
  return [{ ...own, chain: chain as ChainId, contract, verified: isVerified || undefined, spam: isSpam || undefined }]
}
