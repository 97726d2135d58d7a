// The kinds of collections that the made-up chain holds, honest ones and spam, each with the variety and the borderline cases of its kind.
// Numbers are what such collections do as far as is publicly known; they were written down before any rule was weighed against them.
import { zero } from '../sim/events.ts'
import { Collection, type CollectionFacts, type StateKind } from './collection.ts'
import { dangerousName, hintName, lookAlikeName, lureName, ordinaryName, symbolOf, verifiedNames } from './names.ts'
import type { RandomSource } from './random-source.ts'

export type World = {
  random: RandomSource
  height: number
  blocksPerHour: number
  /** Everybody who may receive something. */
  people: readonly string[]
  /** No collection has more recipients. */
  recipientsMax: number
}

type Kind = { kind: string; share: number; make: (world: World) => Collection }

const day = 24
const ether = 10n ** 18n

// ---- what all kinds do

type Start = Partial<CollectionFacts> & Pick<CollectionFacts, 'kind' | 'isSpam' | 'name'>

/** Deployed early enough to leave `hours` of life, unless told otherwise. */
function begin({ random, height, blocksPerHour }: World, start: Start, hours: number): Collection {
  const latest = Math.max(2, height - Math.round(hours * blocksPerHour) - 2)
  return new Collection({
    ...{ standard: 'ERC721', symbol: symbolOf(start.name), maker: random.address(), state: 'true' },
    deployedAt: random.between(1, latest),
    ...start,
  })
}

/** A block some hours after another one, not above the head. */
function later({ random, height, blocksPerHour }: World, block: number, hoursMin: number, hoursMax: number): number {
  const hours = hoursMin + random.next() * (hoursMax - hoursMin)
  return Math.min(height - 1, block + Math.max(0, Math.round(hours * blocksPerHour)))
}

const honestName = ({ random }: World, dangerous: number): string =>
  random.chance(dangerous) ? dangerousName(random) : ordinaryName(random)

/** The owner sends tokens to many, so many in each transaction. Returns who got what, and when. */
function giveOut(
  world: World,
  collection: Collection,
  {
    recipients,
    perTransaction,
    start,
    hours,
    source = zero,
    sender = collection.facts.maker,
    oneId,
  }: {
    recipients: readonly string[]
    perTransaction: number
    start: number
    hours: number
    source?: string
    sender?: string
    oneId: boolean
  },
): Held[] {
  const held: Held[] = []
  const batches = Math.ceil(recipients.length / perTransaction)
  for (let batch = 0; batch < batches; batch++) {
    const part = recipients.slice(batch * perTransaction, (batch + 1) * perTransaction)
    const progress = batches === 1 ? 0 : batch / (batches - 1)
    const block = Math.min(world.height - 1, start + Math.round(progress * hours * world.blocksPerHour))
    const moves = part.map(to => ({ from: source, to, id: oneId ? 1n : collection.newId() }))
    const stock = oneId
      ? [{ from: zero, to: source, id: 1n, amount: BigInt(part.length) }]
      : moves.map(move => ({ ...move, from: zero, to: source }))
    if (source !== zero) collection.add(block, sender, stock)
    collection.add(block, sender, moves)
    held.push(...moves.map(({ to, id }) => ({ holder: to, id, block })))
  }
  return held
}

type Held = { holder: string; id: bigint; block: number }

/** Some holders sell, give away or burn what they have. */
function liveOn(world: World, collection: Collection, held: readonly Held[], share: number, hoursMax: number): void {
  const { random, people } = world
  for (const { holder, id, block } of held) {
    if (!random.chance(share)) continue
    const when = later(world, block, 1, hoursMax)
    if (when <= block) continue
    const other = random.pick(people)
    const way = random.next()
    if (way < 0.55)
      collection.add(when, other, [{ from: holder, to: other, id }], BigInt(random.between(1, 500)) * (ether / 1_000n))
    else if (way < 0.8) collection.add(when, holder, [{ from: holder, to: other, id }])
    else if (way < 0.9) collection.add(when, random.address(), [{ from: holder, to: other, id }])
    else collection.add(when, holder, [{ from: holder, to: zero, id }])
  }
}

const isMulti = ({ random }: World, share: number): CollectionFacts['standard'] =>
  random.chance(share) ? 'ERC1155' : 'ERC721'

// ---- honest kinds

/** People send transactions to get it, with or without a price; the team keeps some. */
function ordinaryMint(world: World): Collection {
  const { random, people, recipientsMax } = world
  const collection = begin(
    world,
    { kind: 'ordinary mint', isSpam: false, name: honestName(world, 0.12), standard: isMulti(world, 0.15) },
    48,
  )
  const price = random.chance(0.35) ? 0n : BigInt(random.between(1, 200)) * (ether / 1_000n)
  if (random.chance(0.5)) {
    const team = Array.from({ length: random.between(3, 30) }, () => random.pick(people))
    giveOut(world, collection, {
      recipients: team,
      perTransaction: 50,
      start: collection.deployedAt,
      hours: 0,
      oneId: false,
    })
  }
  const held: Held[] = []
  for (const minter of random.sample(people, random.magnitude(10, recipientsMax / 2))) {
    const block = later(world, collection.deployedAt, 0, random.pick([2, 24, 200]))
    const moves = Array.from({ length: random.between(1, 3) }, () => ({
      from: zero,
      to: minter,
      id: collection.newId(),
    }))
    // A few mint through a router, a relayer or a card: then somebody else sends the transaction.
    const sender = random.chance(0.06) ? random.address() : minter
    collection.add(block, sender, moves, price)
    held.push(...moves.map(({ id }) => ({ holder: minter, id, block })))
  }
  liveOn(world, collection, held, random.next() * 0.5, 10 * day)
  return collection
}

/** The owner pays the gas and sends it to those who had signed up. */
function allowListDrop(world: World): Collection {
  const { random, people, recipientsMax } = world
  const fresh = random.chance(0.12)
  const standard = isMulti(world, 0.3)
  const name = honestName(world, 0.15)
  const collection = begin(world, { kind: 'allow-list drop', isSpam: false, name, standard }, fresh ? 6 : 120)
  const recipients = random.sample(people, random.magnitude(25, recipientsMax * 0.8))
  const held = giveOut(world, collection, {
    recipients,
    perTransaction: random.pick([1, 20, 50, 100, 200]),
    start: later(world, collection.deployedAt, 0, 12),
    hours: random.pick([0.5, 2, 24, 72]),
    oneId: standard === 'ERC1155',
  })
  liveOn(world, collection, held, fresh ? random.next() * 0.03 : 0.01 + random.next() * 0.3, 8 * day)
  if (random.chance(0.4)) {
    for (const claimer of random.sample(people, Math.ceil(recipients.length * random.next() * 0.5))) {
      const block = later(world, collection.deployedAt, 1, 100)
      const id = standard === 'ERC1155' ? 1n : collection.newId()
      collection.add(block, claimer, [{ from: zero, to: claimer, id }])
    }
  }
  return collection
}

/** An artist makes some pieces and gives them to friends; friends give to friends. */
function friendsGifts(world: World): Collection {
  const { random, people } = world
  const collection = begin(
    world,
    { kind: 'gifts between friends', isSpam: false, name: honestName(world, 0.1), standard: isMulti(world, 0.3) },
    60,
  )
  const { maker } = collection.facts
  const held: Held[] = []
  const pieces = Array.from({ length: random.between(4, 60) }, () => collection.newId())
  collection.add(
    collection.deployedAt,
    maker,
    pieces.map(id => ({ from: zero, to: maker, id })),
  )
  const friends = random.sample(people, random.between(3, 40))
  for (const id of pieces) {
    if (random.chance(0.15)) continue
    const block = later(world, collection.deployedAt, 1, 200)
    const to = random.pick(friends)
    collection.add(block, maker, [{ from: maker, to, id }])
    held.push({ holder: to, id, block })
  }
  liveOn(world, collection, held, 0.25, 5 * day)
  return collection
}

/** A backend mints items to players as they play, all day; players use them up and trade them. */
function game(world: World): Collection {
  const { random, people, recipientsMax } = world
  const standard = isMulti(world, 0.7)
  const collection = begin(world, { kind: 'game', isSpam: false, name: honestName(world, 0.1), standard }, 96)
  const backend = random.chance(0.5) ? collection.facts.maker : random.address()
  const players = random.sample(people, random.magnitude(15, recipientsMax * 0.4))
  const held: Held[] = []
  const items = random.between(3, 40)
  const rounds = random.magnitude(40, recipientsMax * 0.8)
  for (let round = 0; round < rounds; round++) {
    const block = later(world, collection.deployedAt, 0, 12 * day)
    const winners = random.sample(
      players,
      random.weighted([
        [1, 6],
        [2, 2],
        [5, 1],
        [20, 0.4],
      ]),
    )
    const moves = winners.map(to => ({
      from: zero,
      to,
      id: standard === 'ERC1155' ? BigInt(random.between(1, items)) : collection.newId(),
    }))
    collection.add(block, backend, moves)
    held.push(...moves.map(({ to, id }) => ({ holder: to, id, block })))
  }
  liveOn(world, collection, held, 0.05 + random.next() * 0.4, 3 * day)
  return collection
}

/** Proof of having been somewhere: a backend mints one to each who scans a code. Hardly anybody ever moves one. */
function badge(world: World): Collection {
  const { random, people, recipientsMax } = world
  const standard = isMulti(world, 0.4)
  const collection = begin(world, { kind: 'badge', isSpam: false, name: honestName(world, 0.08), standard }, 48)
  const guests = random.sample(people, random.magnitude(15, recipientsMax * 0.4))
  const held = giveOut(world, collection, {
    recipients: guests,
    perTransaction: random.pick([1, 1, 1, 3]),
    start: later(world, collection.deployedAt, 0, 24),
    hours: random.pick([2, 8, 48]),
    sender: random.address(),
    oneId: standard === 'ERC1155',
  })
  liveOn(world, collection, held, random.next() * 0.03, 8 * day)
  return collection
}

export const honestKinds: readonly Kind[] = [
  { kind: 'ordinary mint', share: 0.4, make: ordinaryMint },
  { kind: 'allow-list drop', share: 0.2, make: allowListDrop },
  { kind: 'gifts between friends', share: 0.15, make: friendsGifts },
  { kind: 'game', share: 0.15, make: game },
  { kind: 'badge', share: 0.1, make: badge },
]

// ---- spam

/** Spread to strangers in wide batches; a few of them sell it or throw it away, and some makers trade with themselves to look alive. */
function spread(world: World, collection: Collection, options: { recipientsMin: number; agedHours: number }): void {
  const { random, people, recipientsMax, height, blocksPerHour } = world
  const { maker, standard } = collection.facts
  const oneId = standard === 'ERC1155' && random.chance(0.9)
  const recipients = random.sample(people, random.magnitude(options.recipientsMin, recipientsMax))
  const latest = Math.max(collection.deployedAt, height - 1 - Math.round(options.agedHours * blocksPerHour))
  const held = giveOut(world, collection, {
    recipients,
    perTransaction: random.pick([50, 100, 200, 400]),
    start: random.between(collection.deployedAt, latest),
    hours: random.pick([0, 0.5, 1, 6]),
    oneId,
    ...(random.chance(0.25) ? { source: random.chance(0.5) ? maker : collection.address } : {}),
  })
  liveOn(world, collection, held, random.chance(0.8) ? 0 : random.next() * 0.01, 5 * day)
  if (random.chance(0.08)) {
    const own = Array.from({ length: 5 }, () => random.address())
    for (let trade = 0; trade < recipients.length * 0.12; trade++) {
      const [seller, buyer] = random.sample(own, 2) as [string, string]
      collection.add(
        later(world, collection.deployedAt, 1, 48),
        buyer,
        [{ from: seller, to: buyer, id: collection.newId() }],
        ether / 100n,
      )
    }
  }
}

function airdropSpam(world: World): Collection {
  const { random } = world
  const name = random.chance(0.92) ? lureName(random) : hintName(random)
  const collection = begin(
    world,
    { kind: 'airdrop spam', isSpam: true, name, standard: isMulti(world, 0.7) },
    random.chance(0.15) ? 4 : 100,
  )
  spread(world, collection, { recipientsMin: 40, agedHours: 0 })
  return collection
}

/** Spam whose bait is in the picture alone: nothing of it can be read from the chain but how it came. */
function blandSpam(world: World): Collection {
  const { random, recipientsMax } = world
  const name = random.chance(0.7) ? ordinaryName(random) : hintName(random)
  const recent = random.chance(0.1)
  const collection = begin(
    world,
    { kind: 'bland airdrop spam', isSpam: true, name, standard: isMulti(world, 0.9) },
    recent ? 4 : 110,
  )
  spread(world, collection, { recipientsMin: recipientsMax * 0.4, agedHours: recent ? 0 : 90 })
  return collection
}

function imitation(world: World): Collection {
  const { random, people, recipientsMax } = world
  const exact = random.chance(0.25)
  const suffix = random.pick(['', ' Airdrop', ' Rewards', ' - Claim'])
  const name = exact ? `${random.pick(verifiedNames)}${suffix}` : lookAlikeName(random)
  const collection = begin(world, { kind: 'imitation', isSpam: true, name, standard: isMulti(world, 0.3) }, 90)
  if (exact || random.chance(0.6))
    spread(world, collection, { recipientsMin: exact ? 120 : 20, agedHours: exact ? 80 : 0 })
  else {
    for (const victim of random.sample(people, random.magnitude(8, recipientsMax / 4))) {
      collection.add(
        later(world, collection.deployedAt, 0, 48),
        victim,
        [{ from: zero, to: victim, id: collection.newId() }],
        ether / 50n,
      )
    }
  }
  return collection
}

/** Events that say that well-known people hold or gave it; the contract's state says otherwise. */
function fakeEvents(world: World): Collection {
  const { random, people, recipientsMax } = world
  const standard = isMulti(world, 0.4)
  const state: StateKind = random.weighted<StateKind>([
    ['none', 3],
    ['own', 2],
    ...(standard === 'ERC1155' ? ([['all', 3]] as const) : []),
  ])
  const name = random.chance(0.5) ? ordinaryName(random) : lureName(random)
  const collection = begin(world, { kind: 'fake events', isSpam: true, name, standard, state }, 24)
  const famous = Array.from({ length: random.between(1, 4) }, () => random.pick(people))
  const recipients = random.sample(people, random.magnitude(12, recipientsMax / 2))
  const perTransaction = random.pick([10, 50, 200])
  for (let at = 0; at < recipients.length; at += perTransaction) {
    const block = later(world, collection.deployedAt, 0, 20)
    const from = random.chance(0.5) ? zero : random.pick(famous)
    const moves = recipients
      .slice(at, at + perTransaction)
      .map(to => ({ from, to, id: standard === 'ERC1155' ? 1n : collection.newId() }))
    collection.add(block, collection.facts.maker, moves)
  }
  return collection
}

export const spamKinds: readonly Kind[] = [
  { kind: 'airdrop spam', share: 0.52, make: airdropSpam },
  { kind: 'bland airdrop spam', share: 0.08, make: blandSpam },
  { kind: 'imitation', share: 0.2, make: imitation },
  { kind: 'fake events', share: 0.2, make: fakeEvents },
]
