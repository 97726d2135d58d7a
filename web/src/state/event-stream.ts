// Reads server-sent events from a response, because the browser's own reader cannot send a key. Nothing here knows what they mean.

export type ServerEvent = { name: string; data: string }

/** Ends with the stream, and fails when nothing at all, not even a comment, came for `silenceMs`. */
export async function* readEvents(response: Response, silenceMs: number): AsyncGenerator<ServerEvent> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await within(silenceMs, reader.read())
      if (done) return
      text += value
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const event = parseEvent(text.slice(0, end))
        if (event !== undefined) yield event
        text = text.slice(end + 2)
      }
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

function parseEvent(frame: string): ServerEvent | undefined {
  let name = 'message'
  const data: string[] = []
  for (const line of frame.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7)
    else if (line.startsWith('data: ')) data.push(line.slice(6))
  }
  return data.length === 0 ? undefined : { name, data: data.join('\n') }
}

async function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The stream fell silent.')), ms)
  })
  try {
    return await Promise.race([work, silence])
  } finally {
    clearTimeout(timer)
  }
}
