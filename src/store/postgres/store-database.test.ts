import { describe, expect, test } from 'vitest'
import { databaseOptions } from './store-database.ts'

describe('the address of a database', () => {
  test('keeps what the driver reads and takes out what is ours', () => {
    expect(
      databaseOptions('postgres://me:secret@db.example:6432/almanac?sslmode=require&pool=3&prepare=false'),
    ).toEqual({
      connectionString: 'postgres://me:secret@db.example:6432/almanac?sslmode=require',
      location: 'postgres://me:…@db.example:6432/almanac?…',
      connectionsMax: 3,
      namedStatements: false,
    })
    expect(databaseOptions('postgresql://db/almanac')).toMatchObject({ connectionsMax: 10, namedStatements: true })
  })

  test.each([
    'postgres://db',
    'postgres://db/',
    'postgres://db/x?pool=0',
    'postgres://db/x?pool=a',
    'postgres://db/x?prepare=no',
  ])('%s is refused', address => {
    expect(() => databaseOptions(address)).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  })
})
