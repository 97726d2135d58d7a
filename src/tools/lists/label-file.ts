// Reads the entries of a file of labels or contracts: CSV with a header, a JSON map of address to name, or a token
// list. The content decides which. It checks the form alone.
import { type CsvRow, CsvRows } from './csv-rows.ts'
import { JsonEntries, type JsonEntry } from './json-entries.ts'

export type FileEntry =
  | { line: number; address: string; chain: string; label: string | undefined; source: string }
  | { line: number; problem: string }

/** The names of columns and members in public lists, in lower case, letters and digits only. */
const fieldNames = {
  address: ['address', 'contractaddress', 'contract', 'walletaddress', 'wallet', 'account'],
  label: ['label', 'name', 'nametag', 'publicname', 'addressname', 'addresslabel', 'title'],
  chain: ['chain', 'chainid', 'network', 'blockchain'],
  source: ['source'],
} as const
type Field = keyof typeof fieldNames
const fields = Object.keys(fieldNames) as Field[]

/** The members beside `tokens` in a token list (its published schema). */
const tokenListMembers = new Set(
  'name timestamp version logoURI keywords tags tokenMap tokens extensions $schema'.split(' '),
)

export class LabelFile {
  #reader: CsvLabels | JsonLabels | undefined
  #start = ''

  push(piece: string): FileEntry[] {
    if (this.#reader !== undefined) return this.#reader.push(piece)
    this.#start += piece
    const visible = this.#start.replace(/^\ufeff?\s*/, '')
    if (visible === '') return []
    this.#reader = /^[[{]/.test(visible) ? new JsonLabels() : new CsvLabels()
    // Leading white space stays: it counts lines.
    return this.#reader.push(this.#start.replace(/^\ufeff/, ''))
  }

  end(): FileEntry[] {
    return this.#reader?.end() ?? [{ line: 1, problem: 'the file is empty' }]
  }
}

class CsvLabels {
  readonly #rows = new CsvRows()
  #columns: Partial<Record<Field, number>> | undefined

  push(piece: string): FileEntry[] {
    return this.#rows.push(piece).flatMap(row => this.#entry(row))
  }

  end(): FileEntry[] {
    return this.#rows.end().flatMap(row => this.#entry(row))
  }

  #entry(row: CsvRow): FileEntry | [] {
    const columns = this.#columns
    if (columns !== undefined && columns.address === undefined) return []
    if ('problem' in row) return row
    const { line, fields: values } = row
    if (columns === undefined) {
      this.#columns = columnsOf(values)
      const problem = 'the first line names no column "address": it must be a header, such as address,label'
      return this.#columns.address === undefined ? { line, problem } : []
    }
    const value = (field: Field): string | undefined => values[columns[field] ?? -1]?.trim()
    const address = value('address')
    if (address === undefined) return { line, problem: `it has ${values.length} fields and none for the address` }
    return { line, address, label: value('label'), chain: value('chain') ?? '', source: value('source') ?? '' }
  }
}

function columnsOf(header: readonly string[]): Partial<Record<Field, number>> {
  const names = header.map(plainName)
  const columns: Partial<Record<Field, number>> = {}
  for (const field of fields) {
    const found = fieldNames[field].map(name => names.indexOf(name)).find(column => column !== -1)
    if (found !== undefined) columns[field] = found
  }
  return columns
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

class JsonLabels {
  readonly #entries = new JsonEntries()

  push(piece: string): FileEntry[] {
    return this.#entries.push(piece).flatMap(entryOf)
  }

  end(): FileEntry[] {
    return this.#entries.end().flatMap(entryOf)
  }
}

function entryOf(entry: JsonEntry): FileEntry | [] {
  if ('problem' in entry) return entry
  const { line, key, value } = entry
  if (key !== undefined && tokenListMembers.has(key)) return []
  if (key !== undefined && typeof value === 'string') return { line, address: key, label: value, chain: '', source: '' }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const of = key === undefined ? 'the entry' : `the value of ${JSON.stringify(key.slice(0, 60))}`
    return { line, problem: `${of} is neither a name nor a map with one` }
  }
  const members = membersOf(value as Record<string, unknown>)
  const address = key ?? members.address
  if (address === undefined) return { line, problem: 'the entry has no member "address"' }
  return { line, address, label: members.label, chain: members.chain ?? '', source: members.source ?? '' }
}

function membersOf(value: Record<string, unknown>): Partial<Record<Field, string>> {
  const members: Partial<Record<Field, string>> = {}
  const byName = new Map(Object.entries(value).map(([name, member]) => [plainName(name), member]))
  for (const field of fields) {
    const member = fieldNames[field].map(name => byName.get(name)).find(isText)
    if (member !== undefined) members[field] = String(member)
  }
  return members
}

function isText(member: unknown): boolean {
  return typeof member === 'string' || typeof member === 'number'
}
