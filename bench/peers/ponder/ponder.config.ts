// Ponder as its documentation sets it up: one chain, the events of NFTs, of every contract or of one.
import { createConfig } from 'ponder'
import { parseAbi } from 'viem'

const { url, chainId, contract, to } = JSON.parse(process.env.BENCH_JOB!) as {
  url: string
  chainId: number
  contract?: `0x${string}`
  to: number
}

export default createConfig({
  chains: { simulated: { id: chainId, rpc: url } },
  contracts: {
    Nft: {
      chain: 'simulated',
      abi: parseAbi([
        'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
        'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
        'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
      ]),
      ...(contract === undefined ? {} : { address: contract }),
      startBlock: 0,
      endBlock: to,
    },
  },
})
