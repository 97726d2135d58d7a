// The explorer: a form for each operation beside its answer. What is asked stands in the address, so it can be linked to.
import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { KnownContracts } from '../chain/known-contracts.tsx'
import { AnswerView } from '../explorer/answer-view.tsx'
import { isConfigured } from '../explorer/configured.ts'
import { DocumentFailure } from '../explorer/document-failure.tsx'
import { OperationForm } from '../explorer/operation-form.tsx'
import { askPortfolio, askTransfers, askWallet, operations } from '../explorer/operations.ts'
import { type OperationName, operationNames, type Values } from '../explorer/question.ts'
import { PortfolioTables } from '../holdings/portfolio-tables.tsx'
import { TransfersTable } from '../holdings/transfers-table.tsx'
import { WalletChainsTable } from '../holdings/wallet-chains-table.tsx'
import { Choices } from '../parts/choices.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { SearchIcon } from '../parts/icons.tsx'
import { NotConfigured } from '../parts/not-configured.tsx'
import { Paging } from '../parts/paging.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { parametersOf } from '../state/document.ts'
import { firstChain, isLive } from '../state/live.ts'
import { documentProblem, loadDocument } from '../state/load-document.ts'
import { goTo, hrefOf, route } from '../state/route.ts'
import type { Problem } from '../state/service.ts'
import { type AnswerState, useAnswer } from '../state/use-answer.ts'
import '../explorer/explorer.css'

export function Explorer() {
  useEffect(loadDocument, [isLive.value])
  const { parts, query } = route.value
  const operation = operationNames.find(name => name === parts[1]) ?? 'transfers'
  const values = askedValues(operation, query)
  const { about, path } = operations[operation]
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
        {about} <code>GET {path}</code>
      </p>
      {operation === 'transfers' && <Transfers key="transfers" values={values} />}
      {operation === 'wallet' && <Wallet key="wallet" values={values} />}
      {operation === 'portfolio' && <Portfolio key="portfolio" values={values} />}
    </>
  )
}

/** A link that names no chain asks for the API's own default. */
function askedValues(operation: OperationName, query: URLSearchParams): Values {
  const values: Values = Object.fromEntries(query)
  const isAsked = operation === 'transfers' && values.address !== undefined
  return isAsked && values.chain === undefined ? { ...values, chain: 'eth' } : values
}

type WorkbenchProps<Data> = {
  operation: OperationName
  values: Values
  state: Signal<AnswerState<Data>>
  /** Stands in the place of the answer while nothing is asked. */
  before: ComponentChildren
  children: (data: Data) => ComponentChildren
}

/** The form on one side, the answer on the other. */
function Workbench<Data>({ operation, values, state, before, children }: WorkbenchProps<Data>) {
  const { answered, problem, loading, again } = state.value
  const isBeside = parametersOf(operations[operation].path)?.some(({ name }) => name === problem?.parameter)
  return (
    <div class="workbench">
      <section class="panel" aria-label="Request">
        <div class="panel-body">
          <Form operation={operation} values={values} problem={problem} />
        </div>
      </section>
      <div class="workbench-answer" aria-busy={loading}>
        {problem !== undefined && !isBeside && (
          <FailureNote problem={problem} what="The request failed." onRetry={again} />
        )}
        {answered === undefined && loading && <Skeleton rows={8} />}
        {answered !== undefined && (
          <AnswerView operation={operation} values={values} answered={answered}>
            {children(answered.data)}
          </AnswerView>
        )}
        {answered === undefined && !loading && (problem === undefined || isBeside) && before}
      </div>
    </div>
  )
}

function Form({
  operation,
  values,
  problem,
}: {
  operation: OperationName
  values: Values
  problem?: Problem | undefined
}) {
  const parameters = parametersOf(operations[operation].path)
  if (documentProblem.value !== undefined) return <DocumentFailure />
  if (parameters === undefined) return <Skeleton rows={6} />
  return (
    <OperationForm
      parameters={parameters}
      values={values}
      problem={problem}
      onAsk={given => goTo(hrefOf(['explore', operation], given))}
    />
  )
}

function questionOf(values: Values): string | undefined {
  return values.address === undefined ? undefined : `${route.value.turn} ${JSON.stringify(values)}`
}

function Transfers({ values }: { values: Values }) {
  const state = useAnswer(questionOf(values), signal => askTransfers(values, signal))
  const chain = values.chain ?? firstChain()
  return (
    <Workbench operation="transfers" values={values} state={state} before={<KnownContracts chain={chain} />}>
      {({ result, index_complete, page, cursor }) => (
        <>
          {result.length === 0 ? (
            <NoTransfers chain={chain} complete={index_complete} />
          ) : (
            <TransfersTable rows={result} chain={chain} />
          )}
          <Paging
            what="the answer"
            page={Number(page) + 1}
            cursor={cursor}
            hrefTo={next => hrefOf(['explore', 'transfers'], { ...values, cursor: next })}
          >
            <a class="aside" href={hrefOf(['contract', chain, values.address!])}>
              Open contract
            </a>
          </Paging>
        </>
      )}
    </Workbench>
  )
}

function NoTransfers({ chain, complete }: { chain: string; complete: boolean }) {
  if (!isConfigured(chain) && !complete) {
    return <NotConfigured chain={chain} />
  }
  return (
    <EmptyState title={complete ? 'No transfers' : 'Nothing found yet'}>
      {complete
        ? 'There is no such transfer: every block of the range is indexed.'
        : 'Nothing was found yet, and not every block of the range is indexed.'}
    </EmptyState>
  )
}

function Wallet({ values }: { values: Values }) {
  const state = useAnswer(questionOf(values), signal => askWallet(values, signal))
  return (
    <Workbench
      operation="wallet"
      values={values}
      state={state}
      before={<NothingAsked>Enter the address of a wallet to see the chains on which it is active.</NothingAsked>}
    >
      {({ address, active_chains: chains }) => (
        <>
          {chains.length === 0 ? (
            <EmptyState title="No activity">Nothing of this wallet is known on these chains.</EmptyState>
          ) : (
            <WalletChainsTable address={address} chains={chains} />
          )}
          <nav class="paging" aria-label="More">
            <a class="aside" href={hrefOf(['wallet', address])}>
              Open wallet
            </a>
          </nav>
        </>
      )}
    </Workbench>
  )
}

function Portfolio({ values }: { values: Values }) {
  const state = useAnswer(questionOf(values), signal => askPortfolio(values, signal))
  return (
    <Workbench
      operation="portfolio"
      values={values}
      state={state}
      before={<NothingAsked>Enter the address of a Solana account to see what it holds.</NothingAsked>}
    >
      {portfolio => (
        <>
          <PortfolioTables portfolio={portfolio} />
          <nav class="paging" aria-label="More">
            <a class="aside" href={hrefOf(['account', values.network ?? 'mainnet', values.address!])}>
              Open account
            </a>
          </nav>
        </>
      )}
    </Workbench>
  )
}

function NothingAsked({ children }: { children: ComponentChildren }) {
  return (
    <section class="panel" aria-label="Answer">
      <EmptyState title="The answer appears here" icon={<SearchIcon />}>
        {children}
      </EmptyState>
    </section>
  )
}
