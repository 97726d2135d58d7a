// The ways to take all of a list: as a file, or by a command. They stand beside its heading, and what became of it below.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { curlText } from '../explorer/request-text.ts'
import { CodeView } from '../parts/code-view.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { bytesText, countOf, countText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import { type DownloadState, download } from './download.ts'
import { memoryBytesMax, openSink } from './file-sink.ts'
import { formats, type ListFormat } from './row-counter.ts'

/** A list of the service that is given whole. */
export type WholeList = {
  /** Below the base. */
  path: readonly string[]
  query: Readonly<Record<string, string | undefined>>
  /** Of the file, without its ending. */
  name: string
}

const listFormats: readonly ListFormat[] = ['csv', 'ndjson']

type Downloads = { actions: ComponentChildren; note: ComponentChildren }

/** Undefined: the list is not given whole. */
export function useDownloads(title: string, list: WholeList | undefined): Downloads {
  const shown = useSignal<DownloadState | undefined>(undefined)
  const stop = useRef<AbortController>(undefined)
  useEffect(() => () => stop.current?.abort(), [])
  if (list === undefined) return { actions: undefined, note: undefined }
  const url = `${location.origin}/api/v2.2${hrefOf(list.path, list.query).slice(1)}`
  const { state } = shown.value ?? {}
  const isUnderWay = state === 'asking' || state === 'receiving'
  const take = async (format: ListFormat) => {
    const fileName = `${list.name}.${format}`
    try {
      const sink = await openSink({ name: fileName, type: formats[format].type })
      if (sink === undefined) return
      stop.current = new AbortController()
      const { signal } = stop.current
      const onState = (next: DownloadState) => {
        shown.value = next
      }
      await download({ url, format, sink, signal, onState })
    } catch (error) {
      shown.value = { state: 'unsaved', why: (error as Error).message }
    }
  }
  const cancel = () => {
    stop.current?.abort()
    shown.value = undefined
  }
  const command = curlText(url, { accept: formats.csv.type, file: `${list.name}.csv` })
  return {
    actions: (
      // biome-ignore lint/a11y/useSemanticElements: a fieldset would stand among the headings as a form
      <div class="downloads" role="group" aria-label={`Download ${title}`}>
        <span class="soft">Download</span>
        {listFormats.map(format => (
          <button
            key={format}
            type="button"
            class="small"
            disabled={isUnderWay}
            aria-label={`Download ${title} as ${formats[format].title}`}
            onClick={() => take(format)}
          >
            {formats[format].title}
          </button>
        ))}
        <span class="soft curl">curl</span>
        <CopyButton text={command} what="as curl" />
      </div>
    ),
    note: shown.value !== undefined && <DownloadNote shown={shown.value} command={command} onCancel={cancel} />,
  }
}

function rowsText(rows: number): string {
  return countOf(rows, 'row')
}

type NoteProps = { shown: DownloadState; command: string; onCancel: () => void }

function DownloadNote({ shown, command, onCancel }: NoteProps) {
  if (shown.state === 'asking' || shown.state === 'receiving')
    return (
      <p class="note download">
        <span role="status">{shown.state === 'asking' ? 'Asking…' : `${rowsText(shown.rows)}…`}</span>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </p>
    )
  if (shown.state === 'refused')
    return (
      <>
        <FailureNote problem={shown.problem} />
        {shown.retryAfterSeconds !== undefined && <p>Try again in {countText(shown.retryAfterSeconds)} s.</p>}
      </>
    )
  if (shown.state === 'saved') {
    const { mark, complete } = shown
    return (
      <p class={`note ${complete ? 'note-good' : 'note-warn'}`} role="status">
        Saved whole: {rowsText(mark.rows)} as of block {countText(mark.block)}.
        {!complete && ' The index is not complete for this block: rows may be missing.'}
      </p>
    )
  }
  return (
    <div class="note note-bad" role="alert">
      {shown.state === 'cut' && (
        <>
          <strong>Not whole, so nothing was saved.</strong> The list was cut after {rowsText(shown.rows)}: the
          connection broke, or blocks were replaced meanwhile. Try again.
        </>
      )}
      {shown.state === 'unsaved' && (
        <>
          <strong>Nothing was saved.</strong> {shown.why}
        </>
      )}
      {shown.state === 'too_large' && (
        <>
          <strong>Nothing was saved: the list is larger than {bytesText(memoryBytesMax)}.</strong> This browser cannot
          write it to disk as it arrives. In a terminal it can be taken whole:
          <CodeView text={command} what="the command" />
        </>
      )}
    </div>
  )
}
