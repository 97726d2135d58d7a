// What a wallet has on each chain, in one row: its native balance, its NFTs and its collections. What cannot be told is left out.
import { nativeUnit } from '../chain/native-amount.tsx'
import { Fact } from '../parts/fact.tsx'
import { countOf, etherText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import { useAnswer } from '../state/use-answer.ts'
import { askBalance, askWalletStats } from './ask.ts'

/** Each asks a node: those of a wallet that is active on many chains are read there. */
const chainsMax = 6

export function WalletFigures({ wallet, chains }: { wallet: string; chains: readonly string[] }) {
  return (
    <dl class="facts wide wallet-figures" aria-label="What it has on each chain">
      {chains.slice(0, chainsMax).map(chain => (
        <OnChain key={chain} wallet={wallet} chain={chain} />
      ))}
    </dl>
  )
}

function OnChain({ wallet, chain }: { wallet: string; chain: string }) {
  const question = JSON.stringify([wallet, chain])
  const balance = useAnswer(question, signal => askBalance({ wallet, chain }, signal)).value
  const stats = useAnswer(question, signal => askWalletStats({ wallet, chain }, signal)).value
  if (balance.problem !== undefined && stats.problem !== undefined) return null
  const wei = balance.answered?.data.balance
  const { nfts, collections } = stats.answered?.data ?? {}
  if (wei === undefined && nfts === undefined) return <Fact title={chain} />
  return (
    <Fact title={chain}>
      {wei !== undefined && (
        <span title={`${BigInt(wei).toLocaleString('en-US')} wei`}>
          {etherText(wei)} <small class="soft">{nativeUnit(chain)}</small>
        </span>
      )}
      {nfts != null && collections != null && (
        <small class={wei === undefined ? undefined : 'soft under'}>
          <a href={hrefOf(['wallet', wallet, 'nfts'], { chain })}>{countOf(Number(nfts), 'NFT')}</a> in{' '}
          <a href={hrefOf(['wallet', wallet, 'collections'], { chain })}>
            {countOf(Number(collections), 'collection')}
          </a>
        </small>
      )}
    </Fact>
  )
}
