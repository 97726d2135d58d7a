// A web page that shows the NFTs of a wallet. The browser asks this server, which adds the key: a key in a page would be everybody's.
//
//   node examples/wallet-page/server.ts     then open http://127.0.0.1:3000
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

const url = process.env.ALMANAC_URL ?? 'http://127.0.0.1:8080'
const key = process.env.ALMANAC_KEY ?? 'sandbox'
const port = Number(process.env.PORT ?? 3_000)

const server = createServer(async ({ url: target = '/' }, response) => {
  const { pathname, searchParams } = new URL(target, 'http://localhost')
  try {
    if (pathname === '/') {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.end(await readFile(new URL('page.html', import.meta.url)))
    } else if (pathname === '/nfts') {
      const { status, text } = await nftsOf(searchParams)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(text)
    } else {
      response.writeHead(404)
      response.end()
    }
  } catch {
    response.writeHead(502, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ message: 'Almanac does not answer.' }))
  }
})

/** Only what the page needs is passed on, so that visitors cannot ask for anything else with the key. */
async function nftsOf(given: URLSearchParams): Promise<{ status: number; text: string }> {
  const [address, chain, cursor] = ['address', 'chain', 'cursor'].map(name => given.get(name) ?? '')
  if (!/^0x[0-9a-f]{40}$/i.test(address!)) return { status: 400, text: '{"message":"This is not an address."}' }
  const query = new URLSearchParams({ chain: chain || 'eth', limit: '24', exclude_spam: 'true' })
  if (cursor) query.set('cursor', cursor)
  const answer = await fetch(`${url}/api/v2.2/${address}/nft?${query}`, { headers: { 'x-api-key': key } })
  return { status: answer.status, text: await answer.text() }
}

server.listen(port, '127.0.0.1', () => {
  const address = server.address()
  console.log(`Open http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`)
})
