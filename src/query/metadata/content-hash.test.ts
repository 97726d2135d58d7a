// Reading content by its hash: ids of each kind, and blocks that are made to be read for ever.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fileContent, folderContent, rawContent } from '../../../test/web-world.ts'
import { contentIdOf, hasHash, unixNodeOf } from './content-hash.ts'

test('ids of both versions in the alphabets that are used, and no others', () => {
  const raw = rawContent(Buffer.from('a'))
  const file = fileContent(Buffer.from('a'))
  for (const content of [raw, file]) {
    const id = contentIdOf(content.id)!
    expect(hasHash(content.block, id)).toBe(true)
    expect(hasHash(Buffer.from('b'), id)).toBe(false)
  }
  const asHex = `f${raw.cid.toString('hex')}`
  expect(contentIdOf(asHex)).toMatchObject({ codec: 'raw', digest: contentIdOf(raw.id)!.digest })
  expect(contentIdOf(file.id)!.codec).toBe('node')
  for (const other of [
    '',
    'Qm',
    'b',
    'bafy',
    `${raw.id}a`,
    `k${'a'.repeat(50)}`,
    `f0171${'0'.repeat(68)}`,
    'f01551401',
    '🐒',
  ])
    expect(contentIdOf(other)).toBeUndefined()
})

test('files, folders and their links', () => {
  const part = rawContent(Buffer.from('b'))
  const file = fileContent(Buffer.from('a'), [part])
  const node = unixNodeOf(file.block)!
  expect(node).toMatchObject({ kind: 'file', links: [{ name: '' }] })
  expect(hasHash(part.block, node.links[0]!.id!)).toBe(true)
  const folder = unixNodeOf(folderContent({ 'ä.json': file, b: part }).block)!
  expect(folder).toMatchObject({ kind: 'folder', links: [{ name: 'ä.json' }, { name: 'b' }] })
  expect(contentIdOf(folder.links[0]!.id!.text)!.digest).toEqual(contentIdOf(file.id)!.digest)
})

test('any bytes are a node or none', () => {
  const blocks = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.constant(folderContent({ a: rawContent(Buffer.alloc(9)) }).block),
  )
  fc.assert(
    fc.property(blocks, fc.nat(199), fc.nat(255), (block, at, byte) => {
      const changed = Uint8Array.from(block)
      if (at < changed.length) changed[at] = byte
      const node = unixNodeOf(changed)
      expect([undefined, 'file', 'folder']).toContain(node?.kind)
    }),
    { numRuns: 300 },
  )
})
