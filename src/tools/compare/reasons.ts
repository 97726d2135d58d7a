// What is known of why two services differ: a table of reasons by field. A difference with a reason is expected.

export const reasons = {
  written: 'the same value, written in another JSON type or form (the dialects of /api/v2 differ)',
  spelling: 'differs in upper and lower case or in spaces alone',
  gateway: 'the same IPFS path; Almanac shows the URI as the contract says it',
  off_chain: 'does not come from the chain: Almanac leaves it empty or out',
  not_read:
    'not known here: Almanac reads it from the contract when it is first shown, and leaves out what no node says',
  own_lists: 'comes from labels, lists and rules of each service (almanac labels, collections, explain)',
  read_at: 'says when a service read something',
  computed: 'each service computes it from its own index',
  total: 'the hosted service no longer counts it',
  page_size: 'the largest page of each service; here limits.page_size_max',
  added: 'Almanac adds it',
  burned: 'greater there by tokens that were burned, which do not count here',
  empty: 'token accounts without a balance are left out here',
  changed: 'changed after the block up to which both are compared',
  moving: 'the account changed while it was read',
  order: 'stands in another place of the list',
  incomplete_here: 'the index is not complete here (X-Index-Complete: false): compare again when it is',
  incomplete_there: 'the index is not complete there (X-Index-Complete: false)',
} as const
export type Reason = keyof typeof reasons

type Rule = { reason: Reason; fields: RegExp; when?: (here: unknown, there: unknown) => boolean }

const isEmpty = (value: unknown): boolean => value === undefined || value === null
const emptyHere = (here: unknown): boolean => isEmpty(here)
const absentThere = (_: unknown, there: unknown): boolean => there === undefined

/** By the name of the field within its record; the first rule that fits is the reason. */
const rules: readonly Rule[] = [
  { reason: 'written', fields: /./, when: (here, there) => isEmpty(here) && isEmpty(there) },
  {
    reason: 'own_lists',
    fields: /^((from|to|owner)_)?address_label$|^possible_spam$|^verified_(collection|contract)$|^categories/,
  },
  { reason: 'read_at', fields: /^(synced_at|last_token_uri_sync|last_metadata_sync|updated_at)$/ },
  { reason: 'computed', fields: /^(index_complete|block_exists|status|balances)$/ },
  { reason: 'total', fields: /^total$/, when: (here, there) => isEmpty(here) || isEmpty(there) },
  { reason: 'page_size', fields: /^page_?size$/i },
  {
    reason: 'off_chain',
    fields:
      /^(media|rarity_\w+|floor_price\w*|last_sale|list_price|\w+_entity(_logo)?|collection_\w+|project_url|wiki_url|\w+_url|\w+_username|verified|normalized_metadata|logo|score|isVerifiedContract|possibleSpam|attributes|contract|collection|firstCreated|creators|properties|description|links|fullyDilutedValue|owners|address|tokenStandard|totalSupply|totalSupplyFormatted|token_logo|logo_hash|thumbnail|usd_\w+|is_contract|validated|fully_diluted_valuation|market_cap|circulating_supply|links\.\w+|(holdersByAcquisition|newHoldersByAcquisition|holdersIn|holdersOut)(\.\w+)*)$/,
    when: emptyHere,
  },
  {
    reason: 'not_read',
    fields:
      /^(name|symbol|decimals|token_name|token_symbol|token_decimals|token_uri|metadata|minter_address|block_number_minted|created_at|parent_hash|total_supply|total_supply_formatted|balance|balance_formatted|percentage_relative_to_total_supply|holderSupply\.\w+\.\w+|(transactions|token_transfers)\.total)$/,
    when: (here, there) => isEmpty(here) || isEmpty(there),
  },
  {
    reason: 'added',
    fields: /^(transfer_index|token_name|token_symbol|tokenStandard|totalSupply|totalSupplyFormatted|total|standard)$/,
    when: absentThere,
  },
  { reason: 'gateway', fields: /^token_uri$/, when: (here, there) => ipfsPath(here) === ipfsPath(there) },
  { reason: 'written', fields: /^metadata$/, when: (here, there) => sameJson(here, there) },
  { reason: 'written', fields: /./, when: sameValue },
  {
    reason: 'spelling',
    fields: /./,
    when: (here, there) => isText(here) && isText(there) && folded(here) === folded(there),
  },
]

export function knownReason(field: string, here: unknown, there: unknown): Reason | undefined {
  const name = field.replaceAll(/\[\d+\]/g, '')
  return rules.find(({ fields, when }) => fields.test(name) && (when === undefined || when(here, there)))?.reason
}

const isText = (value: unknown): value is string => typeof value === 'string'
const folded = (text: string): string => text.normalize('NFKC').replaceAll(/\s+/g, ' ').trim().toLowerCase()

/** A number and its text are the same, a flag and its text, and moments with and without their zone. */
function sameValue(here: unknown, there: unknown): boolean {
  if (typeof here === 'object' || typeof there === 'object') return false
  const [one, other] = [String(here), String(there)]
  return one === other || (momentOf(one) !== undefined && momentOf(one) === momentOf(other))
}

function momentOf(text: string): number | undefined {
  const [, moment, zone = 'Z'] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? []
  return moment === undefined ? undefined : Date.parse(moment + zone)
}

/** What follows the gateway or the scheme. A value that has neither is never the same as another. */
function ipfsPath(value: unknown): unknown {
  const [, path] = /^(?:ipfs:\/\/(?:ipfs\/)?|https?:\/\/[^/]+\/ipfs\/)(.+)$/.exec(isText(value) ? value : '') ?? []
  return path ?? Symbol('none')
}

function sameJson(here: unknown, there: unknown): boolean {
  try {
    return JSON.stringify(sorted(JSON.parse(String(here)))) === JSON.stringify(sorted(JSON.parse(String(there))))
  } catch {
    return false
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]))
}
