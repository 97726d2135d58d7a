// The same request as a command, as programs and for the public SDK, to be pasted as they are. Pure. A key is written into
// them where one is given; where none is, they take it from the environment.
import type { Parameter } from '../state/document.ts'

/** Parameters as they stand in the form and in the address. */
export type Values = Readonly<Record<string, string>>

/** The variable that holds the key where it is not written out. */
const variable = 'ALMANAC_KEY'

type CurlOptions = {
  method?: string
  body?: string | undefined
  /** The form of the answer, and the file that it goes to. */
  accept?: string | undefined
  file?: string
  key?: string | undefined
}

export function curlText(url: string, { method = 'GET', body, accept, file, key }: CurlOptions = {}) {
  const header = key === undefined ? `"X-API-Key: $${variable}"` : shellText(`X-API-Key: ${key}`)
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}-H ${header}`,
    ...(accept === undefined ? [] : [`-H 'Accept: ${accept}'`]),
    ...(file === undefined ? [] : [`--fail --output '${file.replaceAll("'", '')}'`]),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json' -d ${shellText(body)}`]),
    `'${url.replaceAll("'", '%27')}'`,
  ]
  return parts.join(' \\\n  ')
}

function shellText(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

export type RequestFacts = {
  method: string
  url: string
  body?: string | undefined
  /** What is answered is not JSON. */
  isText?: boolean
  /** The form of the answer, where it is chosen. */
  accept?: string | undefined
  key: string | undefined
}

export function typescriptText({ method, url, body, isText = false, accept, key }: RequestFacts): string {
  const secret = key === undefined ? `process.env.${variable}` : quoted(key)
  const form = accept === undefined ? '' : `, Accept: ${quoted(accept)}`
  const type = `${form}${body === undefined ? '' : `, 'Content-Type': 'application/json'`}`
  return `const response = await fetch(${quoted(url)}, {
${method === 'GET' ? '' : `  method: '${method}',\n`}  headers: { 'X-API-Key': ${secret}${type} },
${body === undefined ? '' : `  body: ${bodyLiteral(body)},\n`}})
if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`)
console.log(${isText ? 'await response.text()' : 'JSON.stringify(await response.json(), null, 2)'})
`
}

/** A text that is not JSON is sent as it stands. */
function bodyLiteral(body: string): string {
  try {
    return `JSON.stringify(${typescriptLiteral(JSON.parse(body), '  ')})`
  } catch {
    return quoted(body)
  }
}

export function pythonText({ method, url, body, isText = false, accept, key }: RequestFacts): string {
  const secret = key === undefined ? `os.environ["${variable}"]` : JSON.stringify(key)
  const form = accept === undefined ? '' : `, "Accept": ${JSON.stringify(accept)}`
  const type = `${form}${body === undefined ? '' : `, "Content-Type": "application/json"`}`
  const read = isText ? 'response.read().decode()' : 'json.dumps(json.load(response), indent=2)'
  return `${isText && body === undefined ? '' : 'import json\n'}${key === undefined ? 'import os\n' : ''}import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(url)},
${method === 'GET' ? '' : `    method="${method}",\n`}    headers={"X-API-Key": ${secret}${type}},
${body === undefined ? '' : `    data=${pythonBody(body)}.encode(),\n`})
with urllib.request.urlopen(request) as response:
    print(${read})
`
}

/** A text that is not JSON is sent as it stands. */
function pythonBody(body: string): string {
  try {
    return `json.dumps(${pythonLiteral(JSON.parse(body), '    ')})`
  } catch {
    return JSON.stringify(body)
  }
}

function pythonLiteral(value: unknown, indent: string): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${indent}    `
  return listed(value, indent, (name, each, isList) => {
    return `${inner}${isList ? '' : `${JSON.stringify(name)}: `}${pythonLiteral(each, inner)}`
  })
}

/** `nameOf`: how a field is named. */
function typescriptLiteral(value: unknown, indent: string, nameOf = (name: string) => name): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  const written = (name: string) => (/^[a-z_$][\w$]*$/i.test(name) ? name : quoted(name))
  return listed(value, indent, (name, each, isList) => {
    return `${inner}${isList ? '' : `${written(nameOf(name))}: `}${typescriptLiteral(each, inner, nameOf)}`
  })
}

function listed(
  value: object,
  indent: string,
  lineOf: (name: string, each: unknown, isList: boolean) => string,
): string {
  const isList = Array.isArray(value)
  const lines = Object.entries(value).map(([name, each]) => `${lineOf(name, each, isList)},\n`)
  const [opening, closing] = isList ? ['[', ']'] : ['{', '}']
  return lines.length === 0 ? opening + closing : `${opening}\n${lines.join('')}${indent}${closing}`
}

/** Path and query of a request with these values; what is still missing in the path keeps its name. */
export function targetOf(path: string, parameters: readonly Parameter[], values: Values): string {
  const query = new URLSearchParams()
  let target = path
  for (const parameter of parameters) {
    const value = values[parameter.name] ?? ''
    if (value === '') continue
    if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, encodeURIComponent(value))
    else if (parameter.in === 'query')
      query.append(parameter.name, parameter.schema.type === 'array' ? joined(value) : value)
  }
  // A comma needs no escape, and lists are read by it.
  return query.size === 0 ? target : `${target}?${`${query}`.replaceAll('%2C', ',')}`
}

/** As people write lists: with spaces too. */
function joined(list: string): string {
  return list
    .split(/[\s,]+/)
    .filter(Boolean)
    .join()
}

type SdkOptions = {
  /** Such as `Moralis.EvmApi.nft.getNFTOwners`, as the document has it. */
  call: string
  parameters: readonly Parameter[]
  values: Values
  body?: string | undefined
  origin: string
  /** The SDK knows chains by their ids. */
  hexIdOf: (chain: string) => string
  key?: string | undefined
}

/** Parameters that no call of the SDK sends. */
const unsent = new Set([
  ...['at_block', 'at_date', 'direction', 'disable_total', 'include_prices'],
  ...['excludeSpam', 'includeFungibleAssets', 'nftMetadata', 'mediaItems'],
])

export function sdkText({ call, parameters, values, body, origin, hexIdOf, key }: SdkOptions): string {
  const base = call.includes('SolApi') ? `solApiBaseUrl: '${origin}'` : `evmApiBaseUrl: '${origin}/api/v2.2'`
  const secret = key === undefined ? `process.env.${variable}` : quoted(key)
  const given = parameters.filter(({ name }) => (values[name] ?? '') !== '')
  const isSent = ({ name }: Parameter) => !unsent.has(name) && !(name === 'format' && call.endsWith('TransfersByBlock'))
  const fields = given
    .filter(isSent)
    .map(each => `${camelCase(each.name)}: ${literal(each, values[each.name]!, { call, hexIdOf })}`)
  const lacking = given.filter(each => !isSent(each)).map(({ name }) => name)
  return `// npm install moralis
import Moralis from 'moralis'

await Moralis.start({
  apiKey: ${secret},
  ${base},
})

${lacking.length === 0 ? '' : `// The SDK does not send ${lacking.join(', ')}.\n`}const answer = await ${call}(${objectText([...fields, ...bodyFields(body)])})
console.log(answer${call.endsWith('Metadata') ? '?' : ''}.raw)
`
}

function objectText(fields: readonly string[]): string {
  return fields.length === 0 ? '' : `{\n${fields.map(field => `  ${field},\n`).join('')}}`
}

/** What others send as a body, the SDK takes beside the parameters. */
function bodyFields(body: string | undefined): string[] {
  try {
    const fields = Object.entries(JSON.parse(body ?? '{}') as object)
    return fields.map(([name, value]) => `${camelCase(name)}: ${typescriptLiteral(value, '  ', camelCase)}`)
  } catch {
    return []
  }
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** As JSON writes what may not stand in a line. */
function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

function literal({ name, schema }: Parameter, value: string, { call, hexIdOf }: Pick<SdkOptions, 'call' | 'hexIdOf'>) {
  const one = (text: string) => quoted(name === 'chain' || name === 'chains' ? hexIdOf(text) : text)
  if (schema.type === 'array') return `[${value.split(',').map(one).join(', ')}]`
  if (/(^|_)date$/.test(name)) return `new Date(${/^\d+$/.test(value) ? `${value}000` : quoted(value)})`
  // By its types, one call takes this block as text.
  const isText = name === 'to_block' && call.endsWith('getWalletNFTTransfers')
  if (schema.type === 'integer' && /^\d+$/.test(value) && !isText) return value
  if (schema.type === 'boolean' && /^(true|false)$/.test(value)) return value
  return one(value)
}
