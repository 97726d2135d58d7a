// An answer as its maker sees it: how long it took, what the headers say, the JSON, and the same request elsewhere.
import type { ComponentChildren } from 'preact'
import { Badge, type Tone } from '../parts/badge.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { codeTab, snippetKey, snippetTabs } from '../parts/snippets.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { chainPairs, parametersOf } from '../state/document.ts'
import type { Answered } from '../state/use-answer.ts'
import { operations } from './operations.ts'
import type { OperationName, Values } from './question.ts'
import { sdkText } from './request-text.ts'

type Props = {
  operation: OperationName
  values: Values
  answered: Answered<unknown>
  children: ComponentChildren
}

export function AnswerView({ operation, values, answered, children }: Props) {
  const { response, data } = answered
  const sdk = sdkText({ operation, values, origin: location.origin, hexIdOf, key: snippetKey.value })
  return (
    <section aria-label="Answer" class="panel flush answer">
      <AnswerFacts answered={answered} />
      <Tabs
        label="Views of the answer"
        tabs={[
          { name: 'table', title: 'Table', content: () => children },
          { name: 'json', title: 'JSON', content: () => <JsonView value={data} what="the answer" /> },
          ...snippetTabs({ method: 'GET', url: response.url }),
          codeTab('sdk', 'SDK', { text: sdk, language: 'typescript' }),
        ]}
      />
    </section>
  )
}

function hexIdOf(chain: string): string {
  const parameter = parametersOf(operations.transfers.path)?.find(({ name }) => name === 'chain')
  return (parameter && chainPairs(parameter).find(({ name }) => name === chain)?.hexId) ?? chain
}

function AnswerFacts({ answered: { response, seconds } }: { answered: Answered<unknown> }) {
  const header = (name: string) => response.headers.get(name)
  const complete = header('x-index-complete')
  const evidence = header('x-index-evidence')
  const missing = header('x-index-incomplete-chains')
  // The configured chains, which it lists too, are in the form.
  const reason = header('x-index-incomplete-reason')?.replace(/ \(configured: .*/, '')
  const slot = header('x-solana-slot')
  const facts: [word: string, tone: Tone][] = [
    [`${response.status} OK`, 'good'],
    [`${Math.max(1, Math.round(seconds * 1_000))} ms`, 'quiet'],
    ...(complete === null
      ? []
      : [
          complete === 'true'
            ? (['index complete', 'good'] as const)
            : ([reason ?? 'index not complete yet', 'warn'] as const),
        ]),
    ...(evidence === null ? [] : [[`evidence: ${evidence.replaceAll('-', ' ')}`, 'quiet'] as const]),
    ...(missing === null ? [] : [[`history missing: ${missing}`, 'warn'] as const]),
    ...(slot === null ? [] : [[`slot ${Number(slot).toLocaleString('en-US')}`, 'quiet'] as const]),
  ].map(([word, tone]) => [word as string, tone as Tone])
  return (
    <p class="answer-badges">
      {facts.map(([word, tone]) => (
        <Badge key={word} word={word} tone={tone} />
      ))}
    </p>
  )
}
