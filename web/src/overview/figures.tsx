// The big figures of the overview: what the API answers, and what is indexed.
import { keyNameOf } from '../keys/key-name.ts'
import { Skeleton } from '../parts/skeleton.tsx'
import { Stat } from '../parts/stat.tsx'
import { ageText, bytesText, countText, percentText, rateText, shortCountText, spanText } from '../quantities.ts'
import { now } from '../state/clock.ts'
import { type LiveStatus, lagOf, past, status } from '../state/live.ts'
import type { Line } from '../state/past.ts'

const apiTitles = {
  requests: 'Requests',
  latency: 'Latency p99',
  errors: 'Error rate (5xx)',
  keys: 'Keys used today',
} as const

const indexTitles = { lag: 'Lag', rows: 'Rows stored', blocks: 'Blocks covered', store: 'Store' } as const

export function Figures() {
  const told = status.value
  if (told === undefined)
    return (
      <>
        <Skeleton stats={Object.values(apiTitles)} plotted />
        <Skeleton stats={Object.values(indexTitles)} />
      </>
    )
  return (
    <>
      {told.api !== undefined && <ApiFigures api={told.api} />}
      <IndexFigures told={told} />
    </>
  )
}

function ApiFigures({ api }: { api: NonNullable<LiveStatus['api']> }) {
  const { requests_per_second: requests, error_share: failed, refused_per_second: refused, p50_ms, p99_ms } = api
  const last = p99_ms === null ? lastOf('p99_ms') : { value: p99_ms, at: undefined }
  return (
    <dl class="stats" aria-label="The API in the last minute">
      <Stat
        label={apiTitles.requests}
        value={rateText(requests)}
        unit="/s"
        note={`${countText(api.requests_today)} today`}
        values={valuesOf('requests_per_second')}
      />
      <Stat
        label={apiTitles.latency}
        value={last === undefined ? '–' : millisecondsText(last.value)}
        {...(last === undefined ? {} : { unit: 'ms' })}
        note={p50_ms === null ? unaskedText(last?.at) : `p50 ${millisecondsText(p50_ms)} ms`}
        values={valuesOf('p99_ms')}
      />
      <Stat
        label={apiTitles.errors}
        value={percentText(failed, 1).replace(' %', '')}
        unit="%"
        tone={failed > 0 ? 'bad' : undefined}
        note={refusedText(refused, api.not_served_per_second)}
        noteTone={null}
        values={valuesOf('errors_per_second')}
      />
      <Stat
        label={apiTitles.keys}
        value={countText(api.keys_used_today)}
        note={
          api.keys[0] === undefined
            ? 'by clients, not this console'
            : `most by ${keyNameOf(api.keys[0].name, status.value)}`
        }
      />
    </dl>
  )
}

function IndexFigures({ told: { chains, solana, store } }: { told: LiveStatus }) {
  const names = [...Object.entries(chains), ...Object.entries(solana)]
  const all = names.flatMap(([name, each]) => {
    const lag = lagOf(each)
    return lag === undefined ? [] : [{ name, lag }]
  })
  const worst = all.reduce<{ name: string; lag: number } | undefined>(
    (most, each) => (most !== undefined && most.lag >= each.lag ? most : each),
    undefined,
  )
  const without = names.length - all.length
  const rows = Object.values(chains).reduce((sum, { rates }) => sum + (rates?.rows_per_second ?? 0), 0)
  const blocks = Object.values(chains).reduce((sum, { coverage }) => sum + blocksOf(coverage.blocks), 0)
  return (
    <dl class="stats" aria-label="The index">
      <Stat
        label={indexTitles.lag}
        value={worst === undefined ? '–' : spanText(worst.lag)}
        note={without > 0 || worst === undefined ? noLagText(without, names.length) : worstText(worst)}
        noteTone={worst !== undefined && without > 0 ? 'bad' : undefined}
      />
      <Stat label={indexTitles.rows} value={rateText(rows)} unit="/s" note="all chains, last minute" />
      <Stat label={indexTitles.blocks} value={shortCountText(blocks)} note="with evidence, all chains" />
      <Stat
        label={indexTitles.store}
        value={bytesText(store.size_bytes).split(' ')[0]}
        unit={bytesText(store.size_bytes).split(' ')[1]!}
        note={`${store.engine}${roomText(store.full_in_seconds)}`}
      />
    </dl>
  )
}

/** What is not served yet is what a client that moves here has to know. One line, so that nothing below it moves. */
function refusedText(refused: number, notServed: number): string {
  const told = [
    ...(refused > notServed ? [{ rate: refused - notServed, how: 'refused' }] : []),
    ...(notServed > 0 ? [{ rate: notServed, how: 'not served' }] : []),
  ].map(({ rate, how }) => `${countText(Math.round(rate * 60))} ${how}`)
  return told.length === 0 ? 'of all answers' : `${told.join(', ')} a minute`
}

/** Nothing where too little was seen to tell. */
function roomText(fullInSeconds: number | null): string {
  if (fullInSeconds === null) return ''
  return fullInSeconds === 0 ? ', full' : `, full in ${spanText(fullInSeconds)} at this growth`
}

function worstText({ name, lag }: { name: string; lag: number }): string {
  return Math.round(lag) === 0 ? 'every chain is at its head' : name
}

function noLagText(without: number, chains: number): string {
  if (chains === 0) return 'nothing is indexed here'
  if (without === chains) return 'no head was read yet'
  return `${without} of ${chains} chains ${without === 1 ? 'has' : 'have'} no head`
}

function blocksOf(blocks: Readonly<Record<string, number | undefined>>): number {
  return Object.values(blocks).reduce<number>((sum, count) => sum + (count ?? 0), 0)
}

/** Of all keys together. */
function valuesOf(measure: Line['measure']): readonly (number | null)[] {
  const isWanted = (line: Line) => line.measure === measure && line.chain === undefined && line.key === undefined
  return past.value.lines.find(isWanted)?.values ?? []
}

/** The last one that is known of the past, and when it was. */
function lastOf(measure: Line['measure']): { value: number; at: number | undefined } | undefined {
  const values = valuesOf(measure)
  const index = values.findLastIndex(value => value !== null)
  return index === -1 ? undefined : { value: values[index]!, at: past.value.at[index] }
}

function unaskedText(lastAt: number | undefined): string {
  return lastAt === undefined ? 'no request in the last minute' : ageText(lastAt, now.value)
}

function millisecondsText(milliseconds: number): string {
  return milliseconds < 1 ? milliseconds.toFixed(2) : rateText(milliseconds)
}
