// The same request for a terminal and for the public SDK. Pure. A key is never written into them.
import type { Parameter } from '../state/document.ts'
import type { OperationName, Values } from './question.ts'

type CurlOptions = {
  method?: string
  body?: string | undefined
  /** The form of the answer, and the file that it goes to. */
  accept?: string
  file?: string
}

export function curlText(url: string, { method = 'GET', body, accept, file }: CurlOptions = {}) {
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}-H "X-API-Key: $ALMANAC_KEY"`,
    ...(accept === undefined ? [] : [`-H 'Accept: ${accept}'`]),
    ...(file === undefined ? [] : [`--fail --output '${file.replaceAll("'", '')}'`]),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json' -d '${body.replaceAll("'", "'\\''")}'`]),
    `'${url.replaceAll("'", '%27')}'`,
  ]
  return parts.join(' \\\n  ')
}

/** Path and query of a request with these values. */
export function targetOf(path: string, parameters: readonly Parameter[], values: Values): string {
  const query = new URLSearchParams()
  let target = path
  for (const parameter of parameters) {
    const value = values[parameter.name] ?? ''
    if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, encodeURIComponent(value))
    else if (value !== '') query.append(parameter.name, value)
  }
  return query.size === 0 ? target : `${target}?${query}`
}

type SdkOptions = {
  operation: OperationName
  values: Values
  origin: string
  /** The SDK knows chains by their ids. */
  hexIdOf: (chain: string) => string
}

const calls = {
  transfers: 'Moralis.EvmApi.nft.getNFTContractTransfers',
  wallet: 'Moralis.EvmApi.wallets.getWalletActiveChains',
  portfolio: 'Moralis.SolApi.account.getPortfolio',
}

export function sdkText({ operation, values, origin, hexIdOf }: SdkOptions): string {
  const base = operation === 'portfolio' ? `solApiBaseUrl: '${origin}'` : `evmApiBaseUrl: '${origin}/api/v2.2'`
  const given = Object.entries(values).map(
    ([name, value]) => `  ${camelCase(name)}: ${literal(name, value, hexIdOf)},\n`,
  )
  return `import Moralis from 'moralis'

await Moralis.start({ apiKey: process.env.ALMANAC_KEY, ${base} })

const answer = await ${calls[operation]}({
${given.join('')}})
console.log(answer.raw)
`
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function literal(name: string, value: string, hexIdOf: SdkOptions['hexIdOf']): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  if (name === 'chain') return quoted(hexIdOf(value))
  if (name === 'chains')
    return `[${value
      .split(',')
      .map(chain => quoted(hexIdOf(chain)))
      .join(', ')}]`
  if (/_date$/.test(name)) return `new Date(${/^\d+$/.test(value) ? `${value}000` : quoted(value)})`
  return /^(limit|from_block|to_block)$/.test(name) && /^\d+$/.test(value) ? value : quoted(value)
}
