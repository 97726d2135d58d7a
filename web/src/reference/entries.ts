// The operations of the document as the reference lists them: one entry for all versions of an operation, by subject. Pure.
import { bodyName, valuesAt } from '../search/paths.ts'
import { type ApiDocument, type DocumentedOperation, operationsOf } from '../state/document.ts'

export type Entry = {
  id: string
  /** What the SDK, the list of operations and its address call it: the name that its first version has. */
  name: string
  title: string
  /** What the summary says besides, such as the scope that is needed. */
  note: string | undefined
  subject: string
  /** The newest version. */
  operation: DocumentedOperation
  older: readonly DocumentedOperation[]
}

const version = /^\/api\/(v2(?:\.\d)?)\//

/** The first that fits; in the order of the menu. */
const subjects: readonly [title: string, fits: (operation: DocumentedOperation, path: string) => boolean][] = [
  ['Keys', ({ path }) => path.startsWith('/keys')],
  ['Following transfers', (_, path) => /^\/(changes|webhooks)\b/.test(path)],
  ['Service', ({ tags }) => tags.includes('Operations')],
  ['Solana', ({ tags }) => tags.includes('Solana')],
  ['ERC-20 tokens', (_, path) => path.includes('/erc20')],
  ['NFT transfers', (_, path) => path.endsWith('/transfers')],
  ['Wallets', (_, path) => path.startsWith('/wallets/') || path.endsWith('/balance')],
  ['Blocks and dates', (_, path) => /^\/(block|dateToBlock)/.test(path)],
  ['About the API', (_, path) => /^\/(web3|info)\//.test(path)],
  ['NFTs and owners', () => true],
]

const order = [
  ...['NFT transfers', 'NFTs and owners', 'ERC-20 tokens', 'Following transfers', 'Wallets', 'Blocks and dates'],
  ...['Solana', 'About the API', 'Service', 'Keys'],
]

export function entriesOf(document: ApiDocument): Entry[] {
  const versions = new Map<string, DocumentedOperation[]>()
  for (const operation of operationsOf(document)) {
    const place = `${operation.method} ${operation.path.replace(version, '/')}`
    versions.set(place, [...(versions.get(place) ?? []), operation])
  }
  const entries = [...versions.values()].map(entryOf)
  return entries.sort((a, b) => order.indexOf(a.subject) - order.indexOf(b.subject))
}

function entryOf(versions: readonly DocumentedOperation[]): Entry {
  const operation = versions.at(-1)!
  const [title = '', ...rest] = operation.summary.split('; ')
  const path = operation.path.replace(version, '/')
  return {
    id: operation.operationId,
    name: versions[0]!.operationId,
    title: title.replace(/, with .*$/, ''),
    note: rest.length === 0 ? undefined : rest.join('; '),
    subject: subjects.find(([, fits]) => fits(operation, path))![0],
    operation,
    older: versions.slice(0, -1),
  }
}

const shortNames: Readonly<Record<string, string>> = {
  transfers: 'getNFTContractTransfers',
  wallet: 'getWalletActiveChains',
  portfolio: 'getPortfolio',
}

/** An address may name any version of an operation, and three of them by a word. */
export function entryNamed(entries: readonly Entry[], name: string): Entry | undefined {
  const id = shortNames[name] ?? name
  return entries.find(entry => entry.id === id || entry.older.some(({ operationId }) => operationId === id))
}

export function versionOf({ path }: DocumentedOperation): string | undefined {
  return version.exec(path)?.[1]
}

/** What a pasted command or address asks of it; nothing where that is another one's, or no address at all. */
export function valuesPasted({ operation }: Entry, text: string): Record<string, string> {
  const { path, parameters = [], requestBody } = operation
  const names = parameters.map(({ name }) => name)
  return valuesAt(path, text, requestBody === undefined ? names : [...names, bodyName])
}

/** In the order of the entries. */
export function subjectsOf(entries: readonly Entry[]): { subject: string; entries: Entry[] }[] {
  return [...Map.groupBy(entries, entry => entry.subject)].map(([subject, own]) => ({ subject, entries: own }))
}

/** The parameters that change an answer. Some are taken because the hosted service has them. */
export function effectiveNames({ parameters = [] }: DocumentedOperation): string[] {
  return parameters.filter(({ description }) => !description?.startsWith('Accepted')).map(({ name }) => name)
}
