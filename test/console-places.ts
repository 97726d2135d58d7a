// Every page of the console, and how it comes into each of its states: with data, empty, loading, broken.
import type { Page } from 'playwright-core'
import { type ConsoleWorld, webhookId } from './console-world.ts'
import { seeded } from './seed.ts'
import { seededCoin } from './seed-tokens.ts'

export const states = ['data', 'empty', 'loading', 'broken'] as const

export type State = (typeof states)[number]

/** Where each page is, and where it is empty, if it can be. */
export function placesOf(world: ConsoleWorld, keyId: string): Record<string, Partial<Record<State, string>>> {
  const nobody = '0x00000000000000000000000000000000000000aa'
  return {
    overview: { data: '#/' },
    chain: { data: '#/chain/sim', empty: '#/chain/nowhere' },
    'chain-on-demand': { data: '#/chain/picked' },
    'chain-stalled': { data: '#/chain/gone' },
    'contract-live': { data: `#/contract/sim/${world.contract}`, empty: `#/contract/bsc/${seeded.silent}` },
    contract: { data: `#/contract/eth/${seeded.collection}`, empty: `#/contract/eth/${seeded.silent}` },
    holders: { data: `#/contract/eth/${seeded.collection}/holders`, empty: `#/contract/eth/${seeded.silent}/holders` },
    token: { data: `#/token/eth/${seeded.collection}/12`, empty: `#/token/eth/${seeded.collection}/999999` },
    wallet: { data: `#/wallet/${seeded.alice}`, empty: `#/wallet/${nobody}` },
    'wallet-nfts': { data: `#/wallet/${seeded.alice}/nfts`, empty: `#/wallet/${nobody}/nfts` },
    'wallet-tokens': { data: `#/wallet/${seeded.alice}/token-transfers`, empty: `#/wallet/${nobody}/token-transfers` },
    erc20: { data: `#/erc20/eth/${seededCoin.address}`, empty: `#/erc20/eth/${nobody}` },
    'erc20-holders': {
      data: `#/erc20/eth/${seededCoin.address}/holders`,
      empty: `#/erc20/eth/${nobody}/holders`,
    },
    account: { data: `#/account/mainnet/${seeded.solanaOwner}` },
    block: { data: `#/block/sim/${world.node.chain.head - 2}`, empty: '#/block/sim/99999999' },
    transaction: {
      data: `#/transaction/sim/${world.node.chain.block(world.node.chain.head - 2).transactions[0]!.hash}`,
      empty: `#/transaction/sim/0x${'ab'.repeat(32)}`,
    },
    explorer: {
      data: `#/explore/transfers?address=${seeded.collection}&limit=25`,
      empty: '#/explore/transfers',
    },
    keys: { data: '#/keys' },
    key: { data: `#/keys/${keyId}`, empty: '#/keys/no-such-key' },
    webhooks: { data: '#/webhooks' },
    webhook: { data: `#/webhooks/${webhookId}`, empty: '#/webhooks/no-such-webhook' },
    'sign-in': { data: '#/' },
    search: { data: '#/search?q=a', empty: '#/search?q=nothing-has-this-name' },
    reference: { data: '/reference' },
    'reference-operation': { data: '/reference#/getNFTContractTransfersV22' },
    'not-found': { data: '#/nowhere' },
  }
}

/** An answer that never comes, or one that fails: of the service's operations alone, the page itself is there. */
export async function holdAnswers(page: Page, state: State): Promise<void> {
  if (state !== 'loading' && state !== 'broken') return
  await page.route(
    url => !/^\/(assets\/|reference|geist|$)/.test(url.pathname),
    async route => {
      if (state === 'loading') return
      const body = { message: 'The store does not answer.', request_id: '01K0EXAMPLE' }
      await route.fulfill({ status: 503, json: body })
    },
  )
}
