// Sends one request of the reference with the key in use, and reads its answer as it came. It shows nothing.
import type { Body } from '../explorer/answer-view.tsx'
import { askingKey, problemOfKey } from '../state/session.ts'

/** `accept`: the form of the answer, where it is not JSON. */
type Asked = { target: string; body: string | undefined; accept?: string | undefined }
type Outcome = { data?: Body; error?: unknown; response: Response }

export async function receive(method: string, { target, body, accept }: Asked, signal: AbortSignal): Promise<Outcome> {
  const secret = askingKey.value
  const message = secret === '' ? undefined : problemOfKey(secret)
  if (message !== undefined) return { error: { message }, response: new Response(null, { status: 401 }) }
  const headers = {
    ...(secret === '' ? {} : { 'x-api-key': secret }),
    ...(accept === undefined ? {} : { accept }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const response = await fetch(target, { method, headers, cache: 'no-store', signal, body: body ?? null })
  const text = await textOf(response)
  const json = isJsonType(response.headers.get('content-type')?.split(';')[0] ?? '') ? JSON.parse(text) : undefined
  return response.ok ? { data: { text, json }, response } : { error: json, response }
}

export function isJsonType(type: string): boolean {
  return /[/+]json$/.test(type)
}

/** Streams do not end: their first part is read. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return await response.text()
  const reader = response.body!.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return `${new TextDecoder().decode(value)}…`
}
