// What a wallet has on each chain, in one row: its native balance, NFTs and collections. What is not known is left out.
import { useRef } from 'preact/hooks'
import { nativeUnit } from '../chain/native-amount.tsx'
import { Fact } from '../parts/fact.tsx'
import { countOf, etherText } from '../quantities.ts'
import { status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { type Answered, type AnswerState, useAnswer } from '../state/use-answer.ts'
import { askBalance, askWalletStats } from './ask.ts'
import { isComplete } from './use-holdings.ts'

/** Each asks a node. The list below has them all. */
const chainsMax = 6

export function WalletFigures({ wallet, chains }: { wallet: string; chains: readonly string[] }) {
  return (
    <dl class="facts wide">
      {chains.slice(0, chainsMax).map(chain => (
        <OnChain key={chain} wallet={wallet} chain={chain} />
      ))}
    </dl>
  )
}

function OnChain({ wallet, chain }: { wallet: string; chain: string }) {
  const question = JSON.stringify([wallet, chain])
  // A node that is away would be waited for; one that answered once is not asked again.
  const hasNode = useRef(false)
  hasNode.current ||= status.value?.chains[chain]?.rpc.some(({ healthy }) => healthy) === true
  const balance = useAnswer(hasNode.current ? question : undefined, signal =>
    askBalance({ wallet, chain }, signal),
  ).value
  const stats = useAnswer(question, signal => askWalletStats({ wallet, chain }, signal)).value
  if (balance.problem !== undefined && stats.problem !== undefined) return null
  const wei = balance.answered?.data.balance
  const held = heldText(stats.answered)
  if (wei === undefined && held === undefined) {
    const isComing = ({ answered, problem }: AnswerState<unknown>) => answered === undefined && problem === undefined
    return isComing(stats) || (hasNode.current && isComing(balance)) ? <Fact title={chain} /> : null
  }
  return (
    <Fact title={chain}>
      {wei !== undefined && (
        <span title={`${BigInt(wei).toLocaleString('en-US')} wei`}>
          {etherText(wei)} <small class="soft">{nativeUnit(chain)}</small>
        </span>
      )}
      {held !== undefined && (
        <small class={wei === undefined ? undefined : 'soft under'}>
          {held === 'no NFT' ? held : <a href={hrefOf(['wallet', wallet, 'nfts'], { chain })}>{held}</a>}
        </small>
      )}
    </Fact>
  )
}

/** Undefined where it is not known: that nothing was found says nothing while the index is not complete. */
function heldText(answered: Answered<{ nfts: string; collections: string }> | undefined): string | undefined {
  if (answered === undefined) return undefined
  const [nfts, collections] = [Number(answered.data.nfts), Number(answered.data.collections)]
  const isWhole = isComplete(answered)
  if (nfts === 0) return isWhole ? 'no NFT' : undefined
  return `${countOf(nfts, 'NFT')} in ${countOf(collections, 'collection')}${isWhole ? '' : ' so far'}`
}
