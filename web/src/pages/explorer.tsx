// The explorer: a form for each operation, and its answer. What is asked stands in the address, so it can be linked to.

import { useEffect } from 'preact/hooks'
import { AnswerView } from '../explorer/answer-view.tsx'
import { OperationForm } from '../explorer/operation-form.tsx'
import { askPortfolio, askTransfers, askWallet, operations } from '../explorer/operations.ts'
import { type OperationName, operationNames, type Values } from '../explorer/question.ts'
import { Choices } from '../parts/choices.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { KnownContracts } from '../parts/known-contracts.tsx'
import { Paging } from '../parts/paging.tsx'
import { PortfolioTables } from '../parts/portfolio-tables.tsx'
import { TransfersTable } from '../parts/transfers-table.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { WalletChainsTable } from '../parts/wallet-chains-table.tsx'
import { loadDocument, parametersOf } from '../state/document.ts'
import { firstChain } from '../state/live.ts'
import { goTo, hrefOf, route } from '../state/route.ts'
import type { Problem } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'

export function Explorer() {
  useEffect(loadDocument, [])
  const { parts, query } = route.value
  const operation = operationNames.find(name => name === parts[1]) ?? 'transfers'
  const values: Values = Object.fromEntries(query)
  return (
    <>
      <div class="heading">
        <h1>Explorer</h1>
        <Choices
          label="Operations"
          choices={operationNames.map(name => ({
            title: operations[name].title,
            href: hrefOf(['explore', name]),
            isHere: name === operation,
          }))}
        />
      </div>
      <p class="soft lead">
        {operations[operation].about} <code>{operations[operation].path}</code>
      </p>
      {operation === 'transfers' && <Transfers key="transfers" values={values} />}
      {operation === 'wallet' && <Wallet key="wallet" values={values} />}
      {operation === 'portfolio' && <Portfolio key="portfolio" values={values} />}
    </>
  )
}

type FormProps = { operation: OperationName; values: Values; problem: Problem | undefined }

function Form({ operation, values, problem }: FormProps) {
  const parameters = parametersOf(operations[operation].path)
  if (parameters === undefined) return <p class="soft waiting">Reading what the service takes …</p>
  const beside = parameters.some(({ name }) => name === problem?.parameter)
  return (
    <>
      <OperationForm
        parameters={parameters}
        values={values}
        problem={problem}
        onAsk={given => goTo(hrefOf(['explore', operation], given))}
      />
      {problem !== undefined && !beside && <FailureNote problem={problem} />}
    </>
  )
}

function questionOf(values: Values): string | undefined {
  return values.address === undefined ? undefined : `${route.value.turn} ${JSON.stringify(values)}`
}

function Transfers({ values }: { values: Values }) {
  const state = useAnswer(questionOf(values), signal => askTransfers(values, signal))
  const { answered, problem, loading } = state.value
  return (
    <>
      <Form operation="transfers" values={values} problem={problem} />
      {loading && <Waiting />}
      {values.address === undefined && <KnownContracts chain={values.chain ?? firstChain()} />}
      {answered !== undefined && (
        <AnswerView operation="transfers" values={values} answered={answered}>
          {answered.data.result.length === 0 ? (
            <NothingFound complete={answered.data.index_complete} />
          ) : (
            <TransfersTable rows={answered.data.result} chain={values.chain ?? 'eth'} />
          )}
          <Paging
            what="the answer"
            page={Number(answered.data.page) + 1}
            cursor={answered.data.cursor}
            hrefTo={cursor => hrefOf(['explore', 'transfers'], { ...values, cursor })}
          >
            <a class="aside" href={hrefOf(['contract', values.chain ?? 'eth', values.address!])}>
              Page of this contract
            </a>
          </Paging>
        </AnswerView>
      )}
    </>
  )
}

function NothingFound({ complete }: { complete: boolean }) {
  return (
    <p class="note">
      {complete
        ? 'There is no such transfer: every block of the range is indexed.'
        : 'Nothing was found yet, and not every block of the range is indexed.'}
    </p>
  )
}

function Wallet({ values }: { values: Values }) {
  const state = useAnswer(questionOf(values), signal => askWallet(values, signal))
  const { answered, problem, loading } = state.value
  return (
    <>
      <Form operation="wallet" values={values} problem={problem} />
      {loading && <Waiting />}
      {answered !== undefined && (
        <AnswerView operation="wallet" values={values} answered={answered}>
          {answered.data.active_chains.length === 0 ? (
            <p class="note">Nothing of this wallet is known on these chains.</p>
          ) : (
            <WalletChainsTable address={answered.data.address} chains={answered.data.active_chains} />
          )}
          <nav class="paging" aria-label="More">
            <a class="aside" href={hrefOf(['wallet', answered.data.address])}>
              Page of this wallet
            </a>
          </nav>
        </AnswerView>
      )}
    </>
  )
}

function Portfolio({ values }: { values: Values }) {
  const state = useAnswer(questionOf(values), signal => askPortfolio(values, signal))
  const { answered, problem, loading } = state.value
  return (
    <>
      <Form operation="portfolio" values={values} problem={problem} />
      {loading && <Waiting />}
      {answered !== undefined && (
        <AnswerView operation="portfolio" values={values} answered={answered}>
          <PortfolioTables portfolio={answered.data} />
          <nav class="paging" aria-label="More">
            <a class="aside" href={hrefOf(['account', values.network ?? 'mainnet', values.address!])}>
              Page of this account
            </a>
          </nav>
        </AnswerView>
      )}
    </>
  )
}
