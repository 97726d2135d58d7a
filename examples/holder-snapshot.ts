// Saves who holds a collection at one block as CSV. The file appears under its name only once it is complete.
//
//   node examples/holder-snapshot.ts [contract] [chain] [block] [file]
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const url = process.env.ALMANAC_URL ?? 'http://127.0.0.1:8080'
const key = process.env.ALMANAC_KEY ?? 'sandbox'
const [contract = '0x8464135c8f25da09e49bc8782676a84730c318bc', chain = 'eth', block, file = 'holders.csv'] =
  process.argv.slice(2)

const query = new URLSearchParams({ chain, ...(block === undefined ? {} : { at_block: block }) })
const response = await fetch(`${url}/api/v2.2/nft/${contract}/owners?${query}`, {
  headers: { 'x-api-key': key, accept: 'text/csv' },
})
if (!response.ok || response.body === null) {
  console.error(`${response.status}: ${await response.text()}`)
  process.exit(1)
}
if (response.headers.get('x-index-complete') !== 'true') {
  await response.body.cancel()
  console.error('This contract is not indexed completely yet. Try again later.')
  process.exit(75)
}

// The last line says that nothing is missing. A list that was cut, by a reorg for example, does not have it.
let end = ''
const keepEnd = new Transform({
  transform(chunk: Buffer, _, done) {
    end = (end + chunk.toString('latin1')).slice(-200)
    done(null, chunk)
  },
})
const unfinished = `${file}.part`
try {
  await pipeline(Readable.fromWeb(response.body), keepEnd, createWriteStream(unfinished))
  const mark = /\n# complete rows=(\d+) block=(\d+)\n$/.exec(end)
  if (mark === null) throw new Error('the list was cut')
  await rename(unfinished, file)
  console.log(`${file}: ${mark[1]} rows at block ${mark[2]} of ${chain}`)
} catch (error) {
  await rm(unfinished, { force: true })
  console.error(`No snapshot was saved: ${(error as Error).message}. Try again.`)
  process.exit(75)
}
