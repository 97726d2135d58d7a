import { expect, test } from 'vitest'
import { Router, segmentsOf } from './router.ts'

const router = new Router<string>()
const paths = [
  '/',
  '/nft/{address}',
  '/nft/transfers',
  '/nft/{address}/transfers',
  '/nft/{address}/{id}',
  '/nft/transfers/{block}/rows',
  '/{address}/nft',
  '/{address}/nft/{contract}/owners',
]
for (const path of paths) router.add('GET', path, path)
router.add('DELETE', '/nft/{address}', 'delete')
router.add('POST', '/nft/transfers', 'post')

function found(target: string, method = 'GET') {
  const values: string[] = []
  return [router.find(method, segmentsOf(target), values), ...values]
}

test.each([
  ['/', '/'],
  ['//', '/'],
  ['/nft/0x1', '/nft/{address}', '0x1'],
  ['/nft/0x1/', '/nft/{address}', '0x1'],
  ['/nft/transfers', '/nft/transfers'],
  ['/nft/tr%61nsfers', '/nft/transfers'],
  ['/nft/0x1/transfers', '/nft/{address}/transfers', '0x1'],
  ['/nft/transfers/transfers', '/nft/{address}/transfers', 'transfers'],
  ['/nft/transfers/5/rows', '/nft/transfers/{block}/rows', '5'],
  ['/nft/transfers/5', '/nft/{address}/{id}', 'transfers', '5'],
  ['/0x1/nft', '/{address}/nft', '0x1'],
  ['/nft/nft', '/nft/{address}', 'nft'],
  ['/nft/nft/0x2/owners', '/{address}/nft/{contract}/owners', 'nft', '0x2'],
  ['/nft/a%2Fb%20c', '/nft/{address}', 'a/b c'],
  ['/nft/%', '/nft/{address}', '%'],
  ['/nft/%ff', '/nft/{address}', '%ff'],
  ['/nft/__proto__', '/nft/{address}', '__proto__'],
])('%s leads to %s', (target, ...expected) => {
  expect(found(target)).toEqual(expected)
})

test.each(['/nft', '/nft//', '/nft//transfers', '//nft/0x1', '/0x1', '/nft/0x1/transfers/', '/nft/0x1/transfers//'])(
  '%s has a route only where no segment is empty',
  target => {
    const isWhole = target === '/nft/0x1/transfers/'
    expect(found(target)[0]).toBe(isWhole ? '/nft/{address}/transfers' : undefined)
  },
)

test('a method that the better path lacks is found at the next one', () => {
  expect(found('/nft/transfers', 'DELETE')).toEqual(['delete', 'transfers'])
  expect(found('/nft/transfers', 'PUT')).toEqual([undefined])
  expect(router.methodsAt(segmentsOf('/nft/transfers'))).toEqual(['GET', 'POST', 'DELETE'])
  expect(router.methodsAt(segmentsOf('/nowhere'))).toEqual([])
})

test('every method that was added is named, whatever it is', () => {
  const other = new Router<string>()
  for (const method of ['PATCH', 'GET', 'QUERY']) other.add(method, '/things/{id}', method)
  other.add('GET', '/things/all', 'all')
  expect(other.methodsAt(['things', 'all'])).toEqual(['GET', 'PATCH', 'QUERY'])
  expect(other.methodsAt(['things', ''])).toEqual([])
})

test('a second route for a method and a path is refused, whatever its parameters are called', () => {
  expect(() => router.add('GET', '/nft/{contract}', 'other')).toThrow('There are two routes for GET /nft/{contract}')
  expect(() => router.add('POST', '/nft/transfers', 'other')).toThrow('two routes')
  expect(found('/nft/0x1')).toEqual(['/nft/{address}', '0x1'])
})
