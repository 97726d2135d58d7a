// What a configuration says, in a few lines with secrets hidden, for the user who has just written or checked it. Pure.
import type { ChainSettings } from '../../config/settings.ts'
import { redactStore, redactUrl } from '../../redact.ts'
import { countOf, countText } from '../terminal.ts'

type Endpoints = { rpc: readonly string[]; ws?: string | undefined }
type Summarised = {
  chains: Readonly<
    Record<string, Endpoints & Pick<ChainSettings, 'index' | 'contracts'> & Partial<Omit<ChainSettings, 'rpc'>>>
  >
  solana: Readonly<Record<string, Endpoints | undefined>>
  store: string
  listen: string
}

export function summaryLines({ chains, solana, store, listen }: Summarised): string[] {
  const rows = [
    ...Object.entries(chains).map(([name, settings]) => [name, chainText(settings)] as const),
    ...Object.entries(solana).flatMap(([name, settings]) =>
      settings === undefined ? [] : [[`solana ${name}`, endpointsText(settings)] as const],
    ),
    ...[['store', redactStore(store)] as const, ['listen', listen] as const],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
}

function chainText(settings: Summarised['chains'][string]): string {
  const { index, contracts, from = 0, history = [], portal } = settings
  return [
    index,
    endpointsText(settings),
    ...(history.length === 0 ? [] : [`files in ${history.join(', ')}`]),
    ...(portal === undefined ? [] : [`portal ${redactUrl(portal)}`]),
    ...(contracts.length === 0 ? [] : [countOf(contracts.length, 'contract')]),
    ...(from === 0 ? [] : [`from block ${countText(from)}`]),
  ].join(', ')
}

function endpointsText({ rpc, ws }: Endpoints): string {
  return [...rpc, ...(ws === undefined ? [] : [ws])].map(redactUrl).join(', ') || 'no node'
}
