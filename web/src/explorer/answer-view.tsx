// An answer as its maker sees it: how long it took, what the headers say, the raw JSON, and the same request elsewhere.
import type { ComponentChildren } from 'preact'
import { CodeView } from '../parts/code-view.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { chainPairs, parametersOf } from '../state/document.ts'
import type { Answered } from '../state/use-answer.ts'
import { operations } from './operations.ts'
import type { OperationName, Values } from './question.ts'
import { curlText, sdkText } from './request-text.ts'

type Props = {
  operation: OperationName
  values: Values
  answered: Answered<unknown>
  children: ComponentChildren
}

export function AnswerView({ operation, values, answered, children }: Props) {
  const { response, data } = answered
  return (
    <section aria-label="Answer" class="answer">
      <AnswerFacts answered={answered} />
      <Tabs
        label="Views of the answer"
        tabs={[
          { name: 'table', title: 'Table', content: () => children },
          {
            name: 'json',
            title: 'JSON',
            content: () => <CodeView text={JSON.stringify(data, null, 2)} what="the answer" />,
          },
          { name: 'curl', title: 'curl', content: () => <CodeView text={curlText(response.url)} what="the command" /> },
          {
            name: 'sdk',
            title: 'SDK',
            content: () => (
              <CodeView text={sdkText({ operation, values, origin: location.origin, hexIdOf })} what="the code" />
            ),
          },
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
  const slot = header('x-solana-slot')
  return (
    <p class="answer-facts">
      <span>
        {response.status} in {Math.max(1, Math.round(seconds * 1_000))} ms
      </span>
      {complete !== null && (
        <span class={complete === 'true' ? 'good' : 'warn'}>
          {complete === 'true' ? 'index complete' : 'index not complete yet'}
        </span>
      )}
      {evidence !== null && <span>evidence: {evidence.replaceAll('-', ' ')}</span>}
      {missing !== null && <span class="warn">history missing: {missing}</span>}
      {slot !== null && <span>slot {Number(slot).toLocaleString('en-US')}</span>}
    </p>
  )
}
