import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEvents, type ServerEvent } from './event-stream.ts'

function responseOf(chunks: readonly Uint8Array[], { open = false } = {}): Response {
  return new Response(
    new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk)
        if (!open) controller.close()
      },
    }),
  )
}

async function all(response: Response, silenceMs = 10_000): Promise<ServerEvent[]> {
  const events: ServerEvent[] = []
  for await (const event of readEvents(response, silenceMs)) events.push(event)
  return events
}

test('events arrive whole, however the stream is cut', async () => {
  const event = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), data: fc.json() })
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 10 }), async (events, cuts) => {
      const text = events.map(({ name, data }) => `: comment\n\nevent: ${name}\ndata: ${data}\n\n`).join('')
      const bytes = new TextEncoder().encode(text)
      const places = [0, ...cuts.map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
      const chunks = places.slice(1).map((end, at) => bytes.subarray(places[at], end))
      expect(await all(responseOf(chunks))).toEqual(events)
    }),
  )
})

test('a stream that falls silent is given up', async () => {
  await expect(all(responseOf([], { open: true }), 10)).rejects.toThrow('silent')
})
