// `/llms.txt`: what the service is and which operations it has, for agents that read text (llmstxt.org). Made from the
// same tables as the OpenAPI documents; nothing is listed here by hand but the groups.
import type { DocumentedOperation } from '../openapi.ts'
import type { DocumentOptions } from '../openapi-parts.ts'
import { evm, servedOperations, solana } from './documents.ts'
import { agentNotes } from './notes.ts'
import { operationPagePath } from './operation-page.ts'
import { usualOrigin } from './served-origin.ts'

/** By the scope that a key needs for them. */
const groups: Readonly<Record<string, string>> = {
  'nft-transfers': 'NFT transfers and contracts',
  'nft-holdings': 'Who owns which NFTs',
  'wallet-chains': 'Chains of a wallet',
  balances: 'Native balances',
  portfolio: 'Solana',
  erc20: 'ERC-20 tokens',
  any: 'Blocks and the service',
}

export function llmsText(options: DocumentOptions): string {
  const operations = [evm, solana].flatMap(kind =>
    servedOperations(kind, options).map(operation => ({ ...operation, base: kind.base })),
  )
  const notes = [
    ...agentNotes(operations, options),
    `Chains: ${options.chains.all.map(({ name }) => `\`${name}\``).join(', ')}, or any by hex id, in \`chain\`; \`eth\` ` +
      'by default. Solana: `mainnet` or `devnet`, in the path.',
    `The bases \`/api/v2\` and \`/api/v2.1\` have the same operations as \`${evm.base}\`. Other operations of the hosted ` +
      'service answer 501.',
  ]
  const sections = [...Map.groupBy(operations, ({ scope }) => scope)].map(([scope, ofScope]) => {
    const needed = scope === 'any' ? 'any key' : `scope \`${scope}\``
    return section(`${groups[scope] ?? scope} (${needed})`, ofScope.map(operationLine))
  })
  return [opening, `${notes.map(note => `- ${note}`).join('\n')}\n`, section('Documents', documents), ...sections].join(
    '\n',
  )
}

function section(title: string, lines: readonly string[]): string {
  return `## ${title}\n\n${lines.join('\n')}\n`
}

function operationLine({ method, base, path, facts }: DocumentedOperation & { base: string }): string {
  const posted = method === 'GET' ? '' : ` (${method})`
  const page = operationPagePath(facts.id, base === solana.base)
  return `- [${facts.id}](${base.replace(/\/$/, '')}${path}): ${facts.summary}${posted} ([parameters and answer](${page}))`
}

const opening = `# Almanac

> A blockchain data service that its operator runs on nodes of their own: NFT transfers and who owns what on EVM chains, at any
> block; ERC-20 tokens; active chains and native balances of wallets; accounts and mints of Solana. JSON over HTTP, with the paths and
> the answers of the hosted API that it replaces.

Base URL: ${usualOrigin}
`

const documents = [
  `- [Operations on ${evm.title}](${evm.documentPath}): OpenAPI 3.1, paths relative to \`${evm.base}\``,
  `- [Operations on ${solana.title}](${solana.documentPath}): OpenAPI 3.1, paths relative to \`${solana.base}\``,
  '- [All routes](/openapi.json): OpenAPI 3.1, with those for operators',
]
