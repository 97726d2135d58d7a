// The answer to a request: what its headers say, as a table where its rows are known, as JSON, and its headers whole.
import { openSink } from '../downloads/file-sink.ts'
import { formats } from '../downloads/row-counter.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { CodeView } from '../parts/code-view.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Paging } from '../parts/paging.tsx'
import { Panel } from '../parts/panel.tsx'
import { Table } from '../parts/table.tsx'
import { type Tab, Tabs } from '../parts/tabs.tsx'
import { countOf, countText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import type { Answered } from '../state/use-answer.ts'
import { tableOf } from './answer-tables.tsx'
import { type ListRows, listRowsOf } from './list-rows.ts'
import type { Values } from './request-text.ts'

/** `json` is undefined where the answer is of another type. */
export type Body = { text: string; json: unknown }

/** `note`: what the answer is of, where that is not what the form holds. */
type Props = { name: string; values: Values; answered: Answered<Body>; note?: string | undefined }

export function AnswerView({ name, values, answered, note }: Props) {
  const { data, response } = answered
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  const list = listRowsOf(response.headers.get('content-type') ?? '', data.text)
  const table = list === undefined ? tableOf(name, data.json, values) : <ListTable list={list} />
  const tabs: Tab[] = [
    ...(table === undefined ? [] : [{ name: 'table', title: 'Table', content: () => table }]),
    data.json === undefined
      ? {
          name: 'text',
          title: list === undefined ? 'Text' : formats[list.format].title,
          content: () => <CodeView text={data.text} what="the answer" />,
        }
      : { name: 'json', title: 'JSON', content: () => <JsonView value={data.json} what="the answer" /> },
    { name: 'headers', title: 'Headers', content: () => <CodeView text={headers} what="the headers" /> },
  ]
  return (
    <Panel
      id={`${name}-answer`}
      title="Answer"
      flush
      note={note}
      actions={
        <>
          {list !== undefined && <Download name={name} text={data.text} list={list} />}
          <Facts answered={answered} />
        </>
      }
    >
      <Tabs label="Views of the answer" tabs={tabs} />
      <Pages name={name} values={values} json={data.json} />
    </Panel>
  )
}

function ListTable({ list: { columns, rows, mark } }: { list: ListRows }) {
  return (
    <>
      <Table columns={columns} name="list-rows" isPlain>
        {rows.map((cells, row) => (
          <tr key={row}>
            {cells.map((cell, at) => (
              <td key={at}>{cell}</td>
            ))}
          </tr>
        ))}
      </Table>
      <p class="list-end soft">
        {mark === undefined
          ? 'The list was cut: it is not whole. Send the request again.'
          : rows.length < mark.rows
            ? `The first ${countText(rows.length)} of ${countOf(mark.rows, 'row')} as of block ${countText(mark.block)}. The file has all.`
            : `All of ${countOf(mark.rows, 'row')}, as of block ${countText(mark.block)}.`}
      </p>
    </>
  )
}

/** Of a whole list alone, as the pages of the console keep one. */
function Download({ name, text, list: { format, mark } }: { name: string; text: string; list: ListRows }) {
  if (mark === undefined) return <Badge word="not whole" tone="warn" />
  const { title, type } = formats[format]
  const save = async () => {
    const sink = await openSink({ name: `${name}.${format}`, type })
    await sink?.write(new TextEncoder().encode(text))
    await sink?.keep()
  }
  return (
    <button type="button" class="small" onClick={() => void save()}>
      Download {title}
    </button>
  )
}

/** Of any list that comes in pages. Those of transfers count them from 0; others begin elsewhere. */
function Pages({ name, values, json }: { name: string; values: Values; json: unknown }) {
  const { cursor, page } = (json ?? {}) as { cursor?: string | null; page?: number | string }
  if (cursor === undefined) return null
  return (
    <Paging
      what="the answer"
      page={name.includes('Transfers') ? Number(page) + 1 : undefined}
      here={values.cursor}
      cursor={cursor}
      hrefTo={next => hrefOf(['explore', name], { ...values, cursor: next })}
    />
  )
}

function Facts({ answered: { response, seconds } }: { answered: Answered<unknown> }) {
  const header = (name: string) => response.headers.get(name)
  const complete = header('x-index-complete')
  const evidence = header('x-index-evidence')
  const missing = header('x-index-incomplete-chains')
  // The configured chains, which it lists too, are in the form.
  const reason = header('x-index-incomplete-reason')?.replace(/ \(configured: .*/, '')
  const slot = header('x-solana-slot')
  const facts: (readonly [word: string, tone: Tone] | undefined)[] = [
    [`${response.status}`, 'good'],
    [`${Math.max(1, Math.round(seconds * 1_000))} ms`, 'quiet'],
    complete === null
      ? undefined
      : complete === 'true'
        ? ['index complete', 'good']
        : [reason ?? 'index not complete yet', 'warn'],
    evidence === null ? undefined : [`evidence: ${evidence.replaceAll('-', ' ')}`, 'quiet'],
    missing === null ? undefined : [`history missing: ${missing}`, 'warn'],
    slot === null ? undefined : [`slot ${Number(slot).toLocaleString('en-US')}`, 'quiet'],
  ]
  return facts.map(fact => fact !== undefined && <Badge key={fact[0]} word={fact[0]} tone={fact[1]} />)
}
