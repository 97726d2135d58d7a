// What counts as a difference between two answers, on rows as the hosted service recorded them and as Almanac has them.
import { expect, test } from 'vitest'
import { compareRuns, type Finding, type Run } from './match.ts'
import { operations, type Row } from './operations.ts'

const transfer = {
  ...{ block_number: '17715655', block_timestamp: '2023-07-17T21:27:59.000Z', block_hash: '0x58f8' },
  ...{ transaction_hash: '0xf5e7', transaction_index: 80, log_index: 225, value: '0', contract_type: 'ERC1155' },
  ...{ transaction_type: 'Single', token_address: '0xd441', token_id: '32', from_address: '0x26fc' },
  ...{ from_address_label: null, to_address: '0xea97', to_address_label: null, amount: '1', operator: '0x11be' },
  ...{ possible_spam: false, verified_collection: true },
}
const held = {
  ...{ token_address: '0xbc4c', token_id: '6955', owner_of: '0x8ae5', block_number: '16220243' },
  ...{ block_number_minted: '12346998', token_hash: 'fffd', amount: '1', contract_type: 'ERC721', name: 'Apes' },
  ...{
    symbol: null,
    token_uri: 'ipfs://Qme/6955',
    metadata: null,
    last_token_uri_sync: null,
    last_metadata_sync: null,
  },
  ...{ minter_address: null, possible_spam: false, verified_collection: false },
}

type Side = Partial<Run> & { rows?: readonly Row[]; record?: Row }
const runOf = ({ rows = [], record = {}, ...rest }: Side): Run => ({
  ...{ isWhole: true, complete: undefined, incompleteChains: [], parts: { record, rows }, ...rest },
})

function compare(id: string, here: Side, there: Side): string[] {
  const operation = operations.find(each => each.id === id)!
  const findings = compareRuns({ operation, here: runOf(here), there: runOf(there), blockOf: () => 20_000_000 })
  return findings.map(({ kind, field, reason }: Finding) => `${field || kind} ${reason ?? 'DIFFERENT'}`).sort()
}

test('an answer of the hosted service differs from ours in known ways alone', () => {
  const here = { ...transfer, token_name: 'X', token_symbol: null }
  const there = {
    ...transfer,
    verified: 1,
    from_address_label: 'Binance',
    from_address_entity: 'Binance',
    token_name: 'x ',
  }
  const envelope = { page: 0, page_size: 100 }
  const found = compare(
    'getNFTContractTransfers',
    { rows: [here], record: { ...envelope, block_exists: true, index_complete: true } },
    { rows: [there], record: { ...envelope, page_size: 50, block_exists: true, total: 14 } },
  )
  expect(found).toEqual([
    ...['from_address_entity off_chain', 'from_address_label own_lists', 'index_complete computed'],
    ...['page_size page_size', 'token_name spelling', 'token_symbol written', 'total total', 'verified off_chain'],
  ])
})

test('an owner as the hosted service shows it differs in known ways alone', () => {
  const metadata = { metadata: '{"a":1}', normalized_metadata: { name: 'One' }, media: { status: 'success' } }
  const there = {
    ...{
      ...held,
      ...metadata,
      token_uri: 'https://ipfs.moralis.io:2053/ipfs/Qme/6955',
      symbol: 'APE',
      owner_of: '0x8AE5',
    },
    ...{
      rarity_rank: 7,
      floor_price_usd: '1',
      minter_address: '0xabcd',
      last_metadata_sync: '2023-01-01T00:00:00.000Z',
    },
  }
  expect(compare('getNFTOwners', { rows: [held] }, { rows: [there] })).toEqual([
    ...['floor_price_usd off_chain', 'last_metadata_sync read_at', 'media off_chain', 'metadata not_read'],
    ...['minter_address not_read', 'normalized_metadata off_chain', 'owner_of spelling', 'rarity_rank off_chain'],
    ...['symbol not_read', 'token_uri gateway'],
  ])
})

test('texts and numbers of the two dialects are the same values', () => {
  const dialect = { ...transfer, block_timestamp: '2023-07-17T21:27:59', possible_spam: 'false', log_index: '225' }
  expect(compare('getNFTTransfers', { rows: [dialect] }, { rows: [transfer] })).toEqual([
    ...['block_timestamp written', 'log_index written', 'possible_spam own_lists'],
  ])
  expect(compare('solana.balance', { record: { lamports: '5' } }, { record: { lamports: 5 } })).toEqual([
    'lamports written',
  ])
})

test('what no reason fits is a difference', () => {
  const other = { ...held, token_uri: 'ipfs://Qme/6956', name: 'Monkeys', floor: 1, block_number: '16220244' }
  expect(compare('getNFTOwners', { rows: [held] }, { rows: [other] })).toEqual([
    ...['block_number DIFFERENT', 'floor DIFFERENT', 'name DIFFERENT', 'token_uri DIFFERENT'],
  ])
  expect(
    compare('getNFTOwners', { rows: [{ ...held, token_uri: 'a' }] }, { rows: [{ ...held, token_uri: 'b' }] }),
  ).toEqual(['token_uri DIFFERENT'])
})

test('items of a batch and holders of one token are told apart', () => {
  const batch = ['1', '2', '2'].map((token_id, at) => ({
    ...transfer,
    transaction_type: 'Batch',
    token_id,
    amount: `${at}`,
  }))
  const [one, two, again] = batch as unknown as [Row, Row, Row]
  expect(compare('getNFTTransfers', { rows: batch }, { rows: [two, one, again] })).toEqual([])
  expect(compare('getNFTTransfers', { rows: [two] }, { rows: [one] })).toEqual([
    ...['missing_here DIFFERENT', 'missing_there DIFFERENT'],
  ])
  const holders = ['0xa', '0xb'].map(owner_of => ({ ...held, contract_type: 'ERC1155', owner_of }))
  expect(compare('getNFTOwners', { rows: holders }, { rows: holders.toReversed() })).toEqual([])
  expect(compare('getNFTOwners', { rows: [holders[0]!] }, { rows: holders })).toEqual(['missing_here DIFFERENT'])
})

test('a row is missed only where the other list was read as far', () => {
  const rows = [5, 4, 3, 2].map(block => ({ ...transfer, block_number: `${block}`, transaction_hash: `0x${block}` }))
  const page = { rows: rows.slice(0, 3), isWhole: false }
  expect(compare('getNFTTransfers', page, { rows })).toEqual([])
  expect(compare('getNFTTransfers', { ...page, isWhole: true }, { rows })).toEqual(['missing_here DIFFERENT'])
  expect(compare('getNFTTransfers', { rows: rows.filter((_, at) => at !== 1), isWhole: false }, page)).toEqual([
    'missing_here DIFFERENT',
  ])
  // Nothing is known of where a list in another order would have it.
  const mixed = { rows: [rows[2]!, rows[0]!, rows[3]!], isWhole: false }
  expect(compare('getNFTTransfers', mixed, { rows })).toEqual(['order DIFFERENT'])
  expect(compare('getNFTTransfers', { ...page, isWhole: true, complete: false }, { rows })).toEqual([
    'missing_here incomplete_here',
  ])
})

test('a chain that is not complete here hides no difference of another one', () => {
  const first = (block: string) => ({ block_number: block, block_timestamp: 'x', transaction_hash: block })
  const chain = (name: string, block: string) => ({ chain: name, chain_id: name, first_transaction: first(block) })
  const here = { rows: [chain('eth', '5'), chain('bsc', '5')], complete: false, incompleteChains: ['bsc'] }
  const there = { rows: [chain('eth', '4'), chain('bsc', '4')] }
  expect(compare('getWalletActiveChains', here, there)).toEqual([
    ...['first_transaction.block_number DIFFERENT', 'first_transaction.block_number incomplete_here'],
    ...['first_transaction.transaction_hash DIFFERENT', 'first_transaction.transaction_hash incomplete_here'],
  ])
})
