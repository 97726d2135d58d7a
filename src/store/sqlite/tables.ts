// The tables of the SQLite engine: `../tables/store-tables.ts` in its words, and what it alone has. No statement of
// work here.
import { type TableDialect, tablesIn } from '../schema.ts'
import { sharedTables, storeTables } from '../tables/store-tables.ts'

/** "ALMN": marks an Almanac store among SQLite files. */
export const applicationId = 0x414c4d4e

const integers = { int: 'INTEGER', big: 'INTEGER' }

const dialect: TableDialect = {
  types: { ...integers, float: 'REAL', text: 'TEXT', utf8: 'TEXT', bytes: 'BLOB' },
  // Text compares by its bytes, and a number of a table follows the highest.
  words: [
    [' BY BYTES', ''],
    [/ NUMBERED BY \w+/g, ''],
    [' USING hash', ''],
  ],
  // Packs fill pages as they are, and rows are appended.
  keyBeside: ['recent_blocks', 'runs', 'packs', 'web_facts'],
  kindOf: () => 'TABLE',
  optionsOf(name, { columns, key }) {
    const isNumber = key.length === 1 && columns.find(column => column.name === key[0])!.type in integers
    return isNumber || this.keyBeside.includes(name) ? '' : ' WITHOUT ROWID'
  },
}

export const tables = `
CREATE TABLE revision (id INTEGER PRIMARY KEY CHECK (id = 1), value INTEGER NOT NULL, labels INTEGER NOT NULL DEFAULT 0);
INSERT INTO revision VALUES (1, 1, 0);
CREATE TABLE run_numbers (last INTEGER NOT NULL);
INSERT INTO run_numbers VALUES (0);
${tablesIn(dialect, storeTables)}
INSERT INTO secrets VALUES ('cursor', randomblob(32));
-- Names and labels for a search box. An index has all that a search reads.
CREATE INDEX contract_facts_by_name ON contract_facts (name COLLATE NOCASE, symbol);
CREATE INDEX contract_facts_by_symbol ON contract_facts (symbol COLLATE NOCASE, name);
CREATE INDEX labels_by_label ON labels (label COLLATE NOCASE);
`

/** Of the file that processes on one store share. */
export const tablesShared = tablesIn(dialect, sharedTables)
