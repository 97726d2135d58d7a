// The shapes of history that benchmarks are made in. Cost follows shape: what is quick where everything fits into memory
// and few contracts share all rows may not be where each row falls on a page of its own.

export type Shape = {
  contracts: number
  /** How many of a contract's transfers fall into its own few days, from 0 to 1. */
  burstShare: number
  transfersPerBlock: number
  /** Addresses ever. */
  wallets: number
  /** Transactions of a wallet in a block, counting both sides. */
  touchesPerBlock: number
  /** 0: all wallets are equally likely. Otherwise the rest of the touches falls on those seen, on few of them most. */
  newWalletsPerBlock: number
  transactionsPerBlock: number
  logsPerBlock: number
  /** Of all contracts and wallets, those that some thousand neighbouring blocks draw from. */
  contractsAtOnce: number
  walletsAtOnce: number
}

/** Measured on recorded blocks and public figures of 2024; contracts and addresses as of half its history. */
const ethereum = {
  contracts: 200_000,
  burstShare: 0.7,
  transfersPerBlock: 10,
  wallets: 50_000_000,
  touchesPerBlock: 300,
  newWalletsPerBlock: 20,
  transactionsPerBlock: 200,
  logsPerBlock: 450,
  contractsAtOnce: 500,
  walletsAtOnce: 500_000,
} satisfies Shape

export const shapes = {
  /** Few contracts and wallets: everything fits into memory. */
  small: {
    contracts: 600,
    burstShare: 0,
    transfersPerBlock: 37,
    wallets: 400_000,
    touchesPerBlock: 74,
    newWalletsPerBlock: 0,
    transactionsPerBlock: 20,
    logsPerBlock: 50,
    contractsAtOnce: 500,
    walletsAtOnce: 40_000,
  },
  ethereum,
  /** The same blocks with the busiest wallets left out: all of half a million are equally likely. */
  'ethereum-even': { ...ethereum, newWalletsPerBlock: 0 },
} as const satisfies Record<string, Shape>

export type ShapeName = keyof typeof shapes

export function shapeNamed(name: string): Shape {
  return shapes[shapeNameOf(name)]
}

export function shapeNameOf(text: string): ShapeName {
  if (text in shapes) return text as ShapeName
  throw new Error(`There is no shape ${text}; there are ${Object.keys(shapes).join(' and ')}.`)
}

/** `wallets` and `touches`: all wallets equally likely, so many for each transfer, instead of those of the shape. */
export function shapeOf({ shape, wallets, touches }: { shape: string; wallets?: string; touches?: string }): Shape {
  const preset = shapeNamed(shape)
  const drawn = wallets === undefined ? preset : { ...preset, wallets: Number(wallets) }
  if (touches === undefined) return drawn
  return { ...drawn, touchesPerBlock: Number(touches) * preset.transfersPerBlock, newWalletsPerBlock: 0 }
}
