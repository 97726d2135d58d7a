// Traits as a page shows them, whatever strangers wrote.
import { expect, test } from 'vitest'
import { descriptionOf, traitsOf } from './traits.ts'

test('traits of text, numbers, dates and flags, each bounded', () => {
  const attributes = [
    { trait_type: 'Hour', value: 'Dawn' },
    { trait_type: 'Paint', value: 6, max_value: 11, display_type: 'number' },
    { trait_type: 'Born', value: 1_700_000_000, display_type: 'date' },
    { trait_type: 'Lit', value: true },
    { trait_type: 'Long', value: 'x'.repeat(1_000) },
  ]
  const traits = traitsOf({ attributes })
  expect(traits.slice(0, 4)).toEqual([
    { name: 'Hour', value: 'Dawn' },
    { name: 'Paint', value: '6 of 11' },
    { name: 'Born', value: '2023-11-14' },
    { name: 'Lit', value: 'true' },
  ])
  expect(traits[4]!.value).toHaveLength(120)
  expect(traitsOf({ attributes: Array(1_000).fill(attributes[0]) })).toHaveLength(24)
})

test('what is no trait is none', () => {
  const odd = [null, 7, 'Dawn', { value: 'no name' }, { trait_type: 'Deep', value: {} }, { trait_type: '', value: 'x' }]
  expect(traitsOf({ attributes: odd })).toEqual([])
  for (const metadata of [null, 'text', [], { attributes: { Hour: 'Dawn' } }]) expect(traitsOf(metadata)).toEqual([])
  expect(traitsOf({ attributes: [{ trait_type: 'Far', value: 1e20, display_type: 'date' }] })).toEqual([
    { name: 'Far', value: '100000000000000000000' },
  ])
  expect([
    descriptionOf({ description: ' Drawn. ' }),
    descriptionOf({ description: ' ' }),
    descriptionOf(null),
  ]).toEqual([...['Drawn.', undefined], undefined])
})
