import fc from 'fast-check'
import * as Rlp from 'ox/Rlp'
import { expect, test } from 'vitest'
import { keccak256 } from './block-hash.ts'
import { encodeRlp, type RlpItem } from './rlp.ts'
import { listRoot } from './trie.ts'

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`

test('the root of nothing is the known one', () => {
  expect(hex(listRoot([]))).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421')
})

test('RLP is what ox encodes', () => {
  const { item } = fc.letrec<{ item: RlpItem }>(tie => ({
    item: fc.oneof({ depthSize: 'small' }, fc.uint8Array({ maxLength: 80 }), fc.array(tie('item'), { maxLength: 6 })),
  }))
  fc.assert(
    fc.property(item, value => {
      expect(hex(encodeRlp(value))).toBe(Rlp.fromBytes(value as never, { as: 'Hex' }))
    }),
  )
  const long = new Uint8Array(70_000)
  expect(hex(encodeRlp([long, long]))).toBe(Rlp.fromBytes([long, long], { as: 'Hex' }))
})

// A second way to the same root: nodes that grow key by key, as the Yellow Paper draws them.
type Node = { value: Uint8Array | undefined; children: Map<number, Node> }

function naiveRoot(values: readonly Uint8Array[]): string {
  const root: Node = { value: undefined, children: new Map() }
  for (const [position, value] of values.entries()) {
    const key = hex(encodeRlp(Buffer.from(position === 0 ? '' : evenHex(position), 'hex'))).slice(2)
    let node = root
    for (const digit of key) {
      const nibble = Number.parseInt(digit, 16)
      const next = node.children.get(nibble) ?? { value: undefined, children: new Map<number, Node>() }
      node.children.set(nibble, next)
      node = next
    }
    node.value = value
  }
  return hex(keccak256(encodeRlp(composed(root))))
}

function evenHex(position: number): string {
  const text = position.toString(16)
  return text.length % 2 === 0 ? text : `0${text}`
}

function composed(node: Node): RlpItem {
  let path = ''
  let end = node
  while (end.value === undefined && end.children.size === 1) {
    const [[nibble, next]] = [...end.children] as [[number, Node]]
    path += nibble.toString(16)
    end = next
  }
  if (end.value !== undefined) return [compact(path, 2), end.value]
  const branch = Array.from({ length: 16 }, (_, nibble) => {
    const next = end.children.get(nibble)
    return next === undefined ? new Uint8Array(0) : reference(composed(next))
  })
  const full: RlpItem = [...branch, new Uint8Array(0)]
  return path === '' ? full : [compact(path, 0), reference(full)]
}

function compact(path: string, flag: number): Uint8Array {
  const odd = path.length % 2
  return Buffer.from(`${(flag + odd).toString(16)}${odd === 1 ? '' : '0'}${path}`, 'hex')
}

function reference(node: RlpItem): RlpItem {
  const encoded = encodeRlp(node)
  return encoded.length < 32 ? node : keccak256(encoded)
}

test('the root is the one that a trie grown key by key has', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { maxLength: 300, size: 'max' }), values => {
      fc.pre(values.length > 0)
      expect(hex(listRoot(values))).toBe(naiveRoot(values))
    }),
    { numRuns: 60 },
  )
  const many = Array.from({ length: 700 }, (_, index) => Uint8Array.of(index & 255, index >> 8, 7))
  for (const count of [1, 2, 127, 128, 129, 255, 256, 257, 700]) {
    expect(hex(listRoot(many.slice(0, count))), `${count} values`).toBe(naiveRoot(many.slice(0, count)))
  }
})
