// Where a download goes: straight to disk where the browser can, else into memory up to a bound. What is not kept
// leaves no file behind.

export type FileSink = {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>
  keep(): Promise<void>
  discard(): Promise<void>
}

/** Thrown by a sink in memory that is full. */
export class TooLarge extends Error {}

export const memoryBytesMax = 256_000_000

/** Not in every browser, so not among the types of all. */
type SavePicker = (options: {
  suggestedName: string
  types: { accept: Record<string, string[]> }[]
}) => Promise<FileSystemFileHandle & { remove?: () => Promise<void> }>

type FileKind = { name: string; type: string }

/** Must be called while a click is handled: the browser asks for a place. Undefined where the reader gave none. */
export async function openSink(kind: FileKind): Promise<FileSink | undefined> {
  const pick = (window as { showSaveFilePicker?: SavePicker }).showSaveFilePicker
  return pick === undefined ? memorySink(kind) : await diskSink(kind, pick)
}

async function diskSink({ name, type }: FileKind, pick: SavePicker): Promise<FileSink | undefined> {
  try {
    const extension = name.slice(name.lastIndexOf('.'))
    const file = await pick({ suggestedName: name, types: [{ accept: { [type]: [extension] } }] })
    // A file that is chosen anew is made at once, and has to go again where nothing is kept.
    const isNew = (await file.getFile()).size === 0
    const writable = await file.createWritable()
    return {
      write: bytes => writable.write(bytes),
      keep: () => writable.close(),
      discard: async () => {
        await writable.abort()
        if (isNew) await file.remove?.()
      },
    }
  } catch (error) {
    if ((error as Error).name === 'AbortError') return undefined
    throw error
  }
}

function memorySink({ name, type }: FileKind): FileSink {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  return {
    write: async bytes => {
      size += bytes.length
      if (size > memoryBytesMax) throw new TooLarge()
      pieces.push(bytes)
    },
    keep: async () => {
      const link = document.createElement('a')
      link.href = URL.createObjectURL(new Blob(pieces, { type }))
      link.download = name
      link.click()
      // The browser has the file by then, or keeps the Blob for as long as it reads it.
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
    },
    discard: async () => {
      pieces.length = 0
    },
  }
}
