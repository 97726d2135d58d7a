// An amount of a chain's own coin with its unit, exact in the title.
import { etherText } from '../quantities.ts'

const units: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['polygon', 'polygon amoy'].map(name => [name, 'POL'])),
  ...Object.fromEntries(['bsc', 'bsc testnet'].map(name => [name, 'BNB'])),
  ...{ avalanche: 'AVAX', fantom: 'FTM', cronos: 'CRO', gnosis: 'xDAI', 'gnosis testnet': 'xDAI', celo: 'CELO' },
  ...Object.fromEntries(
    [
      'eth',
      'sepolia',
      'holesky',
      'hoodi',
      'arbitrum',
      'base',
      'base sepolia',
      'optimism',
      'linea',
      'linea sepolia',
    ].map(name => [name, 'ETH']),
  ),
  ...Object.fromEntries(['zora', 'zksync', 'blast', 'scroll', 'mode', 'unichain'].map(name => [name, 'ETH'])),
}

/** Of a chain without a known coin: that it is the chain's own. */
export function nativeUnit(chain: string): string {
  return units[chain] ?? 'native'
}

export function NativeAmount({ wei, chain }: { wei: string; chain: string }) {
  if (wei === '0') return <span class="soft">–</span>
  return (
    <span title={`${BigInt(wei).toLocaleString('en-US')} wei`}>
      {etherText(wei)} <small class="soft">{nativeUnit(chain)}</small>
    </span>
  )
}
