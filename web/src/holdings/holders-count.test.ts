import { expect, test } from 'vitest'
import { countHolders } from './holders-count.ts'

const row = (owner_of: string, amount = '1') => `${JSON.stringify({ owner_of, amount })}\n`
const end = '{"complete":true,"rows":4,"block":9}\n'

async function* inPieces(text: string, length: number) {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length)
}

test('each holder is one row, the one with the most first, however the list arrives', async () => {
  const list = row('0xa') + row('0xb') + row('0xa') + row('0xc', `${10n ** 20n}`) + end
  for (const length of [1, 7, list.length])
    expect(await countHolders(inPieces(list, length), 4)).toEqual({
      holders: [
        { address: '0xc', tokens: 1, quantity: 10n ** 20n },
        { address: '0xa', tokens: 2, quantity: 2n },
        { address: '0xb', tokens: 1, quantity: 1n },
      ],
      ...{ rows: 4, quantity: 10n ** 20n + 3n, isWhole: true },
    })
})

test('of a longer list the first rows are counted, and it is said that they are not all', async () => {
  const list = row('0xa') + row('0xb') + row('0xb') + row('0xa') + end
  expect(await countHolders(inPieces(list, 9), 3)).toMatchObject({ rows: 3, quantity: 3n, isWhole: false })
  await expect(countHolders(inPieces(row('0xa') + row('0xb'), 9), 3)).rejects.toThrow('broke off')
})
