// Nothing of an endpoint's URL but its host is ever shown.
import { describe, expect, test } from 'vitest'
import { endpointAddresses, isPrivateHost } from './endpoint-address.ts'

test('an endpoint is known by its host, and by a number where several share it', () => {
  const urls = [
    'https://eth.example/v3/0123456789abcdef',
    'https://eth.example/v3/fedcba9876543210',
    'http://10.0.0.7:8545',
  ]
  expect(endpointAddresses(urls).map(({ name }) => name)).toEqual(['eth.example', 'eth.example#2', '10.0.0.7:8545'])
})

test.each([
  'https://eth.example/v3/s3cr3t-t0ken-value',
  'https://eth.example/rpc?apikey=s3cr3t-t0ken-value',
  'https://user:s3cr3t-t0ken-value@eth.example/',
  'https://s3cr3t-t0ken-value:x@eth.example/',
])('the secret of %s is taken out of any text', url => {
  const [address] = endpointAddresses([url])
  expect(address!.name).toBe('eth.example')
  const text = `project ID s3cr3t-t0ken-value request rate exceeded at ${url}`
  expect(address!.redact(text)).not.toContain('s3cr3t-t0ken-value')
  expect(address!.redact(text)).toContain('request rate exceeded')
})

test('credentials become a header', () => {
  const [address] = endpointAddresses(['https://user:pa%3Ass@eth.example/'])
  expect(address!.authorization).toBe(`Basic ${Buffer.from('user:pa:ss').toString('base64')}`)
})

test('credentials with a % that encodes nothing are taken as they are', () => {
  const [address] = endpointAddresses(['https://user:100%@eth.example/'])
  expect(address!.authorization).toBe(`Basic ${Buffer.from('user:100%').toString('base64')}`)
})

describe('private hosts', () => {
  test.each([
    ...['localhost', '127.0.0.1', '127.9.9.9', '10.1.2.3', '172.16.0.1', '172.31.255.1', '192.168.1.1', '169.254.1.1'],
    ...['100.64.0.1', '[::1]', '[fd00::1]', '[fe80::1]', 'geth', 'node.local', 'erigon.chain.svc.cluster.local'],
  ])('%s is private', host => expect(isPrivateHost(host)).toBe(true))

  test.each(['8.8.8.8', '172.32.0.1', '172.15.0.1', '100.128.0.1', '192.169.0.1', 'rpc.example', '[2606:4700::1]'])(
    '%s is public',
    host => expect(isPrivateHost(host)).toBe(false),
  )
})
