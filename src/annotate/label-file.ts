// A file of labels or contracts, as people share them, to entries as they are written: CSV with a header, a JSON map of
// address to name, or a token list. It decides by the content, and judges nothing but the form.
import { CsvRows } from './csv-rows.ts'
import { JsonEntries, type JsonEntry } from './json-entries.ts'

export type FileEntry =
  | { line: number; address: string; chain: string; label: string | undefined; source: string }
  | { line: number; problem: string }

/** Columns and members by the names that public lists give them, in lower case, letters and digits only. */
const fieldNames = {
  address: ['address', 'contractaddress', 'contract', 'walletaddress', 'wallet', 'account'],
  label: ['label', 'name', 'nametag', 'publicname', 'addressname', 'addresslabel', 'title'],
  chain: ['chain', 'chainid', 'network', 'blockchain'],
  source: ['source'],
} as const
type Field = keyof typeof fieldNames
const fields = Object.keys(fieldNames) as Field[]

/** What stands beside `tokens` in a token list (its published schema). */
const tokenListMembers = new Set([
  'name',
  'timestamp',
  'version',
  'logoURI',
  'keywords',
  'tags',
  'tokenMap',
  'tokens',
  'extensions',
  '$schema',
])

export class LabelFile {
  #reader: { push(piece: string): FileEntry[]; end(): FileEntry[] } | undefined
  #start = ''

  push(piece: string): FileEntry[] {
    if (this.#reader !== undefined) return this.#reader.push(piece)
    this.#start += piece
    const visible = this.#start.replace(/^\ufeff?\s*/, '')
    if (visible === '') return []
    this.#reader = /^[[{]/.test(visible) ? new JsonLabels() : new CsvLabels()
    // White space counts lines.
    return this.#reader.push(this.#start.replace(/^\ufeff/, ''))
  }

  end(): FileEntry[] {
    return this.#reader?.end() ?? [{ line: 1, problem: 'the file is empty' }]
  }
}

class CsvLabels {
  readonly #rows = new CsvRows()
  #columns: Partial<Record<Field, number>> | undefined
  #unusable = false

  push(piece: string): FileEntry[] {
    return this.#read(this.#rows.push(piece))
  }

  end(): FileEntry[] {
    return this.#read(this.#rows.end())
  }

  #read(rows: ReturnType<CsvRows['push']>): FileEntry[] {
    const entries: FileEntry[] = []
    for (const row of rows) {
      if (this.#unusable) break
      if ('problem' in row) entries.push(row)
      else if (this.#columns === undefined) {
        this.#columns = columnsOf(row.fields)
        if (this.#columns.address !== undefined) continue
        this.#unusable = true
        const problem = 'the first line names no column "address": it must be a header, such as address,label'
        entries.push({ line: row.line, problem })
      } else entries.push(this.#entry(row.line, row.fields, this.#columns))
    }
    return entries
  }

  #entry(line: number, values: readonly string[], columns: Partial<Record<Field, number>>): FileEntry {
    const value = (field: Field): string | undefined => {
      const column = columns[field]
      return column === undefined ? undefined : values[column]?.trim()
    }
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
