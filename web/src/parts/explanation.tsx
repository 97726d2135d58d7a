// Why a contract carries its marks, where the service can explain them.
import { useEffect } from 'preact/hooks'
import { apiDocument, loadDocument } from '../state/document.ts'
import { service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'
import { CodeView } from './code-view.tsx'

const path = '/explain/{chain}/{contract}'

export function Explanation({ chain, contract }: { chain: string; contract: string }) {
  useEffect(loadDocument, [])
  const known = apiDocument.value !== undefined && path in apiDocument.value.paths
  const state = useAnswer(known ? JSON.stringify([chain, contract]) : undefined, signal =>
    // The document of an older service lacks it, so the types do not name it.
    (service.GET as unknown as (path: string, options: object) => Promise<{ data?: unknown; response: Response }>)(
      path,
      {
        params: { path: { chain, contract } },
        signal,
      },
    ),
  )
  const { answered } = state.value
  if (answered === undefined) return null
  return (
    <details class="explanation">
      <summary>Why it is marked as it is</summary>
      <CodeView text={JSON.stringify(answered.data, null, 2)} what="the explanation" />
    </details>
  )
}
