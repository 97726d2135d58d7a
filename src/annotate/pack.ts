// The built-in pack of labels and verified collections, and writing it into a store: as a whole, and only where the
// version differs.
import { builtInChains } from '../chains.ts'
import { type Address, parseAddress } from '../model.ts'
import type { AnnotationChange, Label, Mark } from '../store/annotation-store.ts'
import type { Store } from '../store/store.ts'
import { packSource } from './shown-facts.ts'

const checkpointName = 'built-in pack'

type PackContent = Required<Pick<AnnotationChange, 'replaces' | 'labels' | 'marks' | 'checkpoint'>>

/** Returns whether anything was written. Only a process that writes calls it. */
export async function loadPack(store: Store, content: PackContent = packContent()): Promise<boolean> {
  if ((await store.checkpoint(checkpointName)) === content.checkpoint.value) return false
  await store.annotate(content)
  return true
}

export function packContent(): PackContent {
  const said = { source: packSource, rank: 'built-in', updatedAt: Date.parse(packDate) } as const
  const labels: Label[] = []
  const marks: Mark[] = []
  for (const [kind, chains, text, label] of packEntries) {
    const address = parseAddress(text) as Address
    for (const chain of chains === '*' ? [undefined] : chains.split(',').map(chainOf)) {
      labels.push({ chain, address, label, ...said })
      if (kind === 'collection' && chain !== undefined)
        marks.push({ chain, contract: address, verified: true, spam: undefined, ...said })
    }
  }
  return { replaces: packSource, labels, marks, checkpoint: { name: checkpointName, value: String(packVersion) } }
}

function chainOf(name: string) {
  const chain = builtInChains.find(known => known.name === name)
  if (chain === undefined) throw new Error(`The pack names the chain ${name}, which the chain table does not have.`)
  return chain.id
}

// The data of the pack: public facts about well-known addresses, each with its source. Addresses have checksums, which
// a test recomputes.

/** Raise with every change: a store takes the pack over when the version differs. */
const packVersion = 1
/** When the pack was last reviewed. */
const packDate = '2026-11-15'

/** Where the entries can be looked up. */
export const packSources = {
  explorer:
    'public name tags and token pages of the chain explorers (etherscan.io, polygonscan.com, bscscan.com, arbiscan.io)',
  seaport: 'github.com/ProjectOpenSea/seaport, README: deployments',
  wormhole: 'wormhole.com/docs: contract addresses',
  polygon: 'docs.polygon.technology: PoS bridge contracts',
  pancakeswap: 'docs.pancakeswap.finance: NFT contracts',
  superrare: 'github.com/superrare, deployments on Ethereum',
  nouns: 'nouns.wtf: contract addresses',
  ens: 'docs.ens.domains: deployments',
  uniswap: 'docs.uniswap.org: v3 deployments',
  lens: 'polygonscan.com token page of Lens Protocol Profiles',
} as const

export type PackEntry = readonly [
  kind: 'label' | 'collection',
  /** Names of the chain table with commas between them; `*`: every chain. */
  chains: string,
  address: string,
  label: string,
  source: keyof typeof packSources,
]

// biome-ignore format: one line an entry reads as the table it is.
export const packEntries: readonly PackEntry[] = [
  // Addresses without a key: tokens sent there are lost.
  ['label', '*', '0x0000000000000000000000000000000000000000', 'Null address', 'explorer'],
  ['label', '*', '0x000000000000000000000000000000000000dEaD', 'Burn address', 'explorer'],
  ['label', '*', '0xdEAD000000000000000042069420694206942069', 'Burn address', 'explorer'],
  // Marketplaces.
  ['label', 'eth', '0x7Be8076f4EA4A4AD08075C2508e481d6C946D12b', 'OpenSea: Wyvern Exchange v1', 'explorer'],
  ['label', 'eth', '0x7f268357A8c2552623316e2562D90e642bB538E5', 'OpenSea: Wyvern Exchange v2', 'explorer'],
  ['label', 'eth', '0xa5409ec958C83C3f309868babACA7c86DCB077c1', 'OpenSea: Registry', 'explorer'],
  ['label', '*', '0x00000000006c3852cbEf3e08E8dF289169EdE581', 'OpenSea: Seaport 1.1', 'seaport'],
  ['label', '*', '0x00000000000006c7676171937C444f6BDe3D6282', 'OpenSea: Seaport 1.2', 'seaport'],
  ['label', '*', '0x0000000000000aD24e80fd803C6ac37206a45f15', 'OpenSea: Seaport 1.3', 'seaport'],
  ['label', '*', '0x00000000000001ad428e4906aE43D8F9852d0dD6', 'OpenSea: Seaport 1.4', 'seaport'],
  ['label', '*', '0x00000000000000ADc04C56Bf30aC9d3c0aAF14dC', 'OpenSea: Seaport 1.5', 'seaport'],
  ['label', '*', '0x0000000000000068F116a894984e2DB1123eB395', 'OpenSea: Seaport 1.6', 'seaport'],
  ['label', '*', '0x1E0049783F008A0085193E00003D00cd54003c71', 'OpenSea: Conduit', 'explorer'],
  ['label', 'eth', '0x000000000000Ad05Ccc4F10045630fb830B95127', 'Blur: Marketplace', 'explorer'],
  ['label', 'eth', '0xb2ecfE4E4D61f8790bbb9DE2D1259B9e2410CEA5', 'Blur: Marketplace 3', 'explorer'],
  ['label', 'eth', '0x0000000000A39bb272e79075ade125fd351887Ac', 'Blur: Pool', 'explorer'],
  ['label', 'eth', '0x59728544B08AB483533076417FbBB2fD0B17CE3a', 'LooksRare: Exchange', 'explorer'],
  ['label', 'eth', '0x0000000000E655fAe4d56241588680F86E3b2377', 'LooksRare: Exchange V2', 'explorer'],
  ['label', 'eth', '0x74312363e45DCaBA76c59ec49a7Aa8A65a67EeD3', 'X2Y2: Exchange', 'explorer'],
  ['label', 'eth', '0x9757F2d2b135150BBeb65308D4a91804107cd8D6', 'Rarible: Exchange V2', 'explorer'],
  ['label', 'eth', '0xcd4EC7b66fbc029C116BA9Ffb3e59351c20B5B06', 'Rarible: Exchange V1', 'explorer'],
  ['label', 'eth', '0xcDA72070E455bb31C7690a170224Ce43623d0B6f', 'Foundation: Market', 'explorer'],
  ['label', 'eth', '0x6D7c44773C52D396F43c2D511B81aa168E9a7a42', 'SuperRare: Bazaar', 'superrare'],
  ['label', 'eth', '0x2B2e8cDA09bBA9660dCA5cB6233787738Ad68329', 'Sudoswap: Pair Router', 'explorer'],
  ['label', 'eth', '0x83C8F28c26bF6aaca652Df1DbBE0e1b56F8baBa2', 'Gem: GemSwap 2', 'explorer'],
  ['label', 'eth', '0x9A1D00bEd7CD04BCDA516d721A596eb22Aac6834', 'Magic Eden: Payment Processor', 'explorer'],
  // Shared contracts: named, but not a collection that could be verified.
  ['label', 'eth', '0x495f947276749Ce646f68AC8c248420045cb7b5e', 'OpenSea Shared Storefront', 'explorer'],
  ['label', 'polygon', '0x2953399124F0cBB46d2CbACD8A89cF0599974963', 'OpenSea Collections', 'explorer'],
  // Bridges.
  ['label', 'eth', '0xA0c68C638235ee32657e8f720a23ceC1bFc77C77', 'Polygon (Matic): Bridge', 'explorer'],
  ['label', 'eth', '0xE6F45376f64e1F568BD1404C155e5fFD2F80F7AD', 'Polygon (Matic): ERC721 Predicate', 'polygon'],
  ['label', 'eth', '0x0B9020d4E32990D67559b1317c7BF0C15D6EB88f', 'Polygon (Matic): ERC1155 Predicate', 'polygon'],
  ['label', 'eth', '0x40ec5B33f54e0E8A33A975908C5BA1c14e5BbbDf', 'Polygon (Matic): ERC20 Bridge', 'explorer'],
  ['label', 'eth', '0x8315177aB297bA92A06054cE80a67Ed4DBd7ed3a', 'Arbitrum One: Bridge', 'explorer'],
  ['label', 'eth', '0x72Ce9c846789fdB6fC1f34aC4AD25Dd9ef7031ef', 'Arbitrum One: L1 Gateway Router', 'explorer'],
  ['label', 'eth', '0x4Dbd4fc535Ac27206064B68FfCf827b0A60BAB3f', 'Arbitrum One: Delayed Inbox', 'explorer'],
  ['label', 'eth', '0x99C9fc46f92E8a1c0deC1b1747d010903E884bE1', 'Optimism: Gateway', 'explorer'],
  ['label', 'eth', '0x6FFd7EdE62328b3Af38FCD61461Bbfc52F5651fE', 'Wormhole: NFT Bridge', 'wormhole'],
  ['label', 'eth', '0x3ee18B2214AFF97000D974cf647E7C347E8fa585', 'Wormhole: Token Bridge', 'wormhole'],
  ['label', 'eth', '0x8EB8a3b98659Cce290402893d0123abb75E3ab28', 'Avalanche: Bridge', 'explorer'],
  ['label', 'eth', '0x1A2a1c938CE3eC39b6D47113c7955bAa9DD454F2', 'Axie Infinity: Ronin Bridge', 'explorer'],
  ['label', 'eth', '0x64192819Ac13Ef72bF6b5AE239AC672B43a9AF08', 'Axie Infinity: Ronin Bridge V2', 'explorer'],
  // Wallets of exchanges.
  ['label', 'eth', '0x3f5CE5FBFe3E9af3971dD833D26bA9b5C936f0bE', 'Binance', 'explorer'],
  ['label', 'eth', '0xBE0eB53F46cd790Cd13851d5EFf43D12404d33E8', 'Binance 7', 'explorer'],
  ['label', 'eth', '0xF977814e90dA44bFA03b6295A0616a897441aceC', 'Binance 8', 'explorer'],
  ['label', 'eth', '0x28C6c06298d514Db089934071355E5743bf21d60', 'Binance 14', 'explorer'],
  ['label', 'eth', '0x21a31Ee1afC51d94C2eFcCAa2092aD1028285549', 'Binance 15', 'explorer'],
  ['label', 'eth', '0xDFd5293D8e347dFe59E90eFd55b2956a1343963d', 'Binance 16', 'explorer'],
  ['label', 'eth', '0x71660c4005BA85c37ccec55d0C4493E66Fe775d3', 'Coinbase 1', 'explorer'],
  ['label', 'eth', '0x503828976D22510aad0201ac7EC88293211D23Da', 'Coinbase 2', 'explorer'],
  ['label', 'eth', '0xA9D1e08C7793af67e9d92fe308d5697FB81d3E43', 'Coinbase 10', 'explorer'],
  ['label', 'eth', '0x2910543Af39abA0Cd09dBb2D50200b3E800A63D2', 'Kraken', 'explorer'],
  ['label', 'eth', '0x267be1C1D684F78cb4F6a176C4911b741E4Ffdc0', 'Kraken 4', 'explorer'],
  ['label', 'eth', '0x6cC5F688a315f3dC28A7781717a9A798a59fDA7b', 'OKX', 'explorer'],
  ['label', 'eth', '0x876EabF441B2EE5B5b0554Fd502a8E0600950cFa', 'Bitfinex 3', 'explorer'],
  ['label', 'eth', '0x0D0707963952f2fBA59dD06f2b425ace40b492Fe', 'Gate.io', 'explorer'],
  ['label', 'eth', '0x2B5634C42055806a59e9107ED44D43c426E58258', 'KuCoin', 'explorer'],
  ['label', 'eth', '0x6262998Ced04146fA42253a5C0AF90CA02dfd2A3', 'Crypto.com', 'explorer'],
  ['label', 'bsc', '0xF977814e90dA44bFA03b6295A0616a897441aceC', 'Binance: Hot Wallet 20', 'explorer'],
  ['label', 'polygon', '0xF977814e90dA44bFA03b6295A0616a897441aceC', 'Binance: Hot Wallet', 'explorer'],
  ['label', 'bsc', '0x0D0707963952f2fBA59dD06f2b425ace40b492Fe', 'Gate.io', 'explorer'],
  // Collections, verified on the chains where they live.
  ['collection', 'eth', '0xBC4CA0EdA7647A8aB7C2061c2E118A18a936f13D', 'Bored Ape Yacht Club', 'explorer'],
  ['collection', 'eth', '0x60E4d786628Fea6478F785A6d7e704777c86a7c6', 'Mutant Ape Yacht Club', 'explorer'],
  ['collection', 'eth', '0xba30E5F9Bb24caa003E9f2f0497Ad287FDF95623', 'Bored Ape Kennel Club', 'explorer'],
  ['collection', 'eth', '0xED5AF388653567Af2F388E6224dC7C4b3241C544', 'Azuki', 'explorer'],
  ['collection', 'eth', '0x8a90CAb2b38dba80c64b7734e58Ee1dB38B8992e', 'Doodles', 'explorer'],
  ['collection', 'eth', '0x49cF6f5d44E70224e2E23fDcdd2C053F30aDA28B', 'CloneX', 'explorer'],
  ['collection', 'eth', '0x23581767a106ae21c074b2276D25e5C3e136a68b', 'Moonbirds', 'explorer'],
  ['collection', 'eth', '0xBd3531dA5CF5857e7CfAA92426877b022e612cf8', 'Pudgy Penguins', 'explorer'],
  ['collection', 'eth', '0x524cAB2ec69124574082676e6F654a18df49A048', 'Lil Pudgys', 'explorer'],
  ['collection', 'eth', '0xb47e3cd837dDF8e4c57F05d70Ab865de6e193BBB', 'CryptoPunks', 'explorer'],
  ['collection', 'eth', '0xb7F7F6C52F2e2fdb1963Eab30438024864c313F6', 'Wrapped Cryptopunks', 'explorer'],
  ['collection', 'eth', '0x7Bd29408f11D2bFC23c34f18275bBf23bB716Bc7', 'Meebits', 'explorer'],
  ['collection', 'eth', '0x06012c8cf97BEaD5deAe237070F9587f8E7A266d', 'CryptoKitties', 'explorer'],
  ['collection', 'eth', '0xa7d8d9ef8D8Ce8992Df33D8b8CF4Aebabd5bD270', 'Art Blocks', 'explorer'],
  ['collection', 'eth', '0x059EDD72Cd353dF5106D2B9cC5ab83a52287aC3a', 'Art Blocks: V0', 'explorer'],
  ['collection', 'eth', '0x34d85c9CDeB23FA97cb08333b511ac86E1C4E258', 'Otherdeed', 'explorer'],
  ['collection', 'eth', '0xF87E31492Faf9A91B02Ee0dEAAd50d51d56D5d4d', 'Decentraland: LAND', 'explorer'],
  ['collection', 'eth', '0x5CC5B05a8A13E3fBDB0BB9FcCd98D38e50F90c38', 'The Sandbox: LAND', 'explorer'],
  ['collection', 'eth', '0x57f1887a8BF19b14fC0dF6Fd9B2acc9Af147eA85', 'ENS: Base Registrar', 'ens'],
  ['collection', 'eth', '0xD4416b13d2b3a9aBae7AcD5D6C2BbDBE25686401', 'ENS: Name Wrapper', 'ens'],
  ['collection', 'eth', '0xe785E82358879F061BC3dcAC6f0444462D4b5330', 'World of Women', 'explorer'],
  ['collection', 'eth', '0x1A92f7381B9F03921564a437210bB9396471050C', 'Cool Cats', 'explorer'],
  ['collection', 'eth', '0x9C8fF314C9Bc7F6e59A9d9225Fb22946427eDC03', 'Nouns', 'nouns'],
  ['collection', 'eth', '0xFF9C1b15B16263C61d017ee9F65C50e4AE0113D7', 'Loot', 'explorer'],
  ['collection', 'eth', '0x8821BeE2ba0dF28761AffF119D66390D594CD280', 'DeGods', 'explorer'],
  ['collection', 'eth', '0x5Af0D9827E0c53E4799BB226655A1de152A425a5', 'Milady Maker', 'explorer'],
  ['collection', 'eth,polygon,arbitrum', '0xC36442b4a4522E871399CD717aBDD847Ab11FE88', 'Uniswap V3: Positions NFT', 'uniswap'],
  ['collection', 'eth', '0xa3AEe8BcE55BEeA1951EF834b99f3Ac60d1ABeeB', 'VeeFriends', 'explorer'],
  ['collection', 'eth', '0xd4e4078ca3495DE5B1d4dB434BEbc5a986197782', 'Autoglyphs', 'explorer'],
  ['collection', 'polygon', '0xDb46d1Dc155634FbC732f92E853b10B288AD5a1d', 'Lens Protocol: Profiles', 'lens'],
  ['collection', 'arbitrum', '0x6325439389E0797Ab35752B4F43a14C004f22A9c', 'Smol Brain', 'explorer'],
  ['collection', 'bsc', '0xDf7952B35f24aCF7fC0487D01c8d5690a60DBa07', 'Pancake Bunnies', 'pancakeswap'],
  ['collection', 'bsc', '0x0a8901b0E25DEb55A87524f0cC164E9644020EBA', 'Pancake Squad', 'pancakeswap'],
]
