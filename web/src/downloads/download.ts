// Takes a whole list from the service into a file. A list that is not whole is not kept.
import { type Problem, problemOf, unreachable } from '../state/service.ts'
import { key } from '../state/session.ts'
import { type FileSink, TooLarge } from './file-sink.ts'
import { type EndMark, formats, type ListFormat, RowCounter } from './row-counter.ts'

export type DownloadState =
  | { state: 'asking' }
  | { state: 'receiving'; rows: number }
  /** `complete`: whether the index was, for the block. */
  | { state: 'saved'; mark: EndMark; complete: boolean }
  | { state: 'refused'; problem: Problem; retryAfterSeconds: number | undefined }
  | { state: 'cut'; rows: number }
  | { state: 'too_large' }
  | { state: 'unsaved'; why: string }

type Wanted = {
  url: string
  format: ListFormat
  sink: FileSink
  signal: AbortSignal
  onState: (state: DownloadState) => void
}

const tellMs = 200

/** Ends by telling how it ended, or silently where it was cancelled. */
export async function download({ sink, signal, onState, ...wanted }: Wanted): Promise<void> {
  onState({ state: 'asking' })
  const end = await received({ sink, signal, onState, ...wanted })
  const isSaved = end.state === 'saved'
  try {
    await (isSaved ? sink.keep() : sink.discard())
  } catch (error) {
    if (isSaved) return onState({ state: 'unsaved', why: (error as Error).message })
  }
  if (!signal.aborted || isSaved) onState(end)
}

async function received({ url, format, sink, signal, onState }: Wanted): Promise<DownloadState> {
  const { type } = formats[format]
  const counter = new RowCounter(format)
  let response: Response
  try {
    response = await fetch(url, { headers: { accept: type, 'x-api-key': key.value ?? '' }, cache: 'no-store', signal })
  } catch {
    return { state: 'refused', problem: unreachable, retryAfterSeconds: undefined }
  }
  if (!response.ok) return await refusal(response)
  if (!response.headers.get('content-type')?.startsWith(type)) {
    const problem = { ...unreachable, message: `The service does not give this list as ${formats[format].title}.` }
    return { state: 'refused', problem, retryAfterSeconds: undefined }
  }
  const reader = response.body!.getReader()
  let toldMs = 0
  try {
    for (let read = await nextOf(reader); read !== undefined; read = await nextOf(reader)) {
      counter.take(read)
      await sink.write(read)
      if (performance.now() - toldMs < tellMs || signal.aborted) continue
      toldMs = performance.now()
      onState({ state: 'receiving', rows: counter.rows })
    }
  } catch (error) {
    await reader.cancel().catch(() => {})
    if (error instanceof TooLarge) return { state: 'too_large' }
    if (!(error instanceof Cut)) return { state: 'unsaved', why: (error as Error).message }
  }
  const mark = counter.endMark()
  if (mark === undefined || signal.aborted) return { state: 'cut', rows: counter.rows }
  return { state: 'saved', mark, complete: response.headers.get('x-index-complete') !== 'false' }
}

/** The connection ended before the list did. */
class Cut extends Error {}

async function nextOf(reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>) {
  const { value } = await reader.read().catch(() => {
    throw new Cut()
  })
  return value
}

async function refusal(response: Response): Promise<DownloadState> {
  const problem = problemOf(await response.json().catch(() => undefined), response)
  const retryAfter = response.headers.get('retry-after')
  return { state: 'refused', problem, retryAfterSeconds: retryAfter === null ? undefined : Number(retryAfter) }
}
